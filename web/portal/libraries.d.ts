declare module '@highlightjs/cdn-assets/es/core.min.js' {
  const hljs: {
    registerLanguage(name: string, language: unknown): void;
    highlight(code: string, options: { language: string }): { value: string };
  };
  export default hljs;
}

declare module '@highlightjs/cdn-assets/es/languages/*' {
  const language: unknown;
  export default language;
}

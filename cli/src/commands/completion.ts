import { command } from '../command.ts';
import { oneOf, required } from '../parameters.ts';
import { script } from '../resources.ts';

/** Scripts that ask `petstore __complete` for each word. It prints a candidate and a tab and its meaning on each line. */
const scripts = {
  bash: `_petstore() {
  # Bash also splits words at colons, such as those of scopes.
  local line=\${COMP_LINE:0:COMP_POINT} words current part IFS=$' \\t\\n'
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  current=\${words[\${#words[@]}-1]}
  part=\${current##*[:=]}
  IFS=$'\\n'
  COMPREPLY=($(petstore __complete "\${words[@]:1}" 2>/dev/null | cut -f1))
  COMPREPLY=("\${COMPREPLY[@]#"\${current%"$part"}"}")
}
complete -o default -F _petstore petstore
`,
  zsh: `#compdef petstore
_petstore() {
  local line
  local -a candidates
  for line in "\${(@f)$(petstore __complete "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] && candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( \${#candidates} )); then _describe petstore candidates; else _files; fi
}
compdef _petstore petstore
`,
  fish: `function __petstore_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l candidates (petstore __complete $words[2..-1] 2>/dev/null)
  if set -q candidates[1]
    string join \\n -- $candidates
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c petstore -f -a '(__petstore_complete)'
`,
};

export const completion = command({
  name: 'completion',
  summary: 'Print the script that completes commands in a shell',
  details: [
    'bash: add `eval "$(petstore completion bash)"` to ~/.bashrc.',
    'zsh: add `eval "$(petstore completion zsh)"` to ~/.zshrc, after compinit.',
    'fish: run `petstore completion fish > ~/.config/fish/completions/petstore.fish`.',
  ].join('\n'),
  arguments: { shell: required(oneOf('The shell', 'bash', 'zsh', 'fish')) },
  examples: ['petstore completion bash'],
  output: 'text',
  prints: script,
  run: async (_, { shell }) => ({ shell, script: scripts[shell] }),
});

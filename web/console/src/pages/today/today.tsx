export function Today() {
  return (
    <section className="page" aria-label="Today">
      <header className="page-header">
        <h1>Today</h1>
      </header>
    </section>
  );
}

/** The maximum number of files and sockets that this process may open; Infinity if the operating system sets no limit. */
export function openFileLimit(): number {
  const { report } = process;
  // The report would look up network interfaces by name, and variables contain secrets.
  Object.assign(report, { excludeNetwork: true, excludeEnv: true });
  const { userLimits } = report.getReport() as {
    userLimits?: { open_files: { soft: number | 'unlimited' } };
  };
  const soft = userLimits?.open_files.soft;
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY;
}

/** How many files and sockets the operating system lets this process open; Infinity when it sets no limit. */
export function openFileLimit(): number {
  const { report } = process;
  // Interfaces would be looked up by name, and variables hold secrets.
  Object.assign(report, { excludeNetwork: true, excludeEnv: true });
  const { userLimits } = report.getReport() as {
    userLimits?: { open_files: { soft: number | 'unlimited' } };
  };
  const soft = userLimits?.open_files.soft;
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY;
}

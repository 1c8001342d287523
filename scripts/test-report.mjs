// Summarises vitest's JSON report: counts, failures and skipped tests.

/**
 * @param {{ testResults: { name: string, status: string, assertionResults: { status: string, fullName: string }[] }[] } | undefined} report
 *   undefined when vitest wrote none
 * @param {number} code vitest's exit code
 * @param {string[]} reasons reasons, known in advance, why tests were skipped
 */
export function summarise(report, code, reasons) {
  const files = report?.testResults ?? []
  const tests = files.flatMap((file) => file.assertionResults.map((test) => ({ ...test, file: file.name })))
  const passed = tests.filter(({ status }) => status === 'passed').length
  // A file that fails to load reports no tests. Neither does an error outside of tests.
  const broken = files.filter(({ status, assertionResults }) => status === 'failed' && !assertionResults.some(isFailed))
  let failed = tests.filter(isFailed).length + broken.length
  const lines = broken.map(({ name }) => `failed to load: ${name}`)
  if (code !== 0 && failed === 0) {
    failed = 1
    lines.push(report === undefined ? 'failed: vitest wrote no report' : 'failed: an error outside of any test')
  }
  const skipped = tests.filter(({ status }) => status !== 'passed' && status !== 'failed')
  const omitted = skipped.length > 0 || reasons.length > 0
  if (omitted) lines.push('', 'Not run:', ...reasons.map((reason) => `- ${reason}`), ...skippedByFile(skipped))
  lines.push('', `${passed} passed, ${failed} failed`)
  return { lines, failed, omitted }
}

function isFailed({ status }) {
  return status === 'failed'
}

function skippedByFile(skipped) {
  const byFile = new Map()
  for (const test of skipped) byFile.set(test.file, [...(byFile.get(test.file) ?? []), test])
  return [...byFile].map(([file, tests]) => `- ${tests.length} in ${file}, such as "${tests[0].fullName}"`)
}

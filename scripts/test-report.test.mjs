import { expect, it } from 'vitest'
import { summarise } from './test-report.mjs'

const file = (name, status, ...statuses) => ({
  name,
  status,
  assertionResults: statuses.map((each, index) => ({ status: each, fullName: `${name} ${index}` })),
})

it('counts passed and failed tests, and ends with a summary line', () => {
  const report = { testResults: [file('a', 'failed', 'passed', 'failed'), file('b', 'passed', 'passed')] }
  const { lines, failed, omitted } = summarise(report, 1, [])
  expect(lines.at(-1)).toBe('2 passed, 1 failed')
  expect([failed, omitted]).toEqual([1, false])
})

it('counts a file that fails to load, a crash and an error outside of tests as failures', () => {
  expect(summarise({ testResults: [file('a', 'failed')] }, 1, []).lines).toEqual([
    'failed to load: a',
    '',
    '0 passed, 1 failed',
  ])
  expect(summarise(undefined, 1, []).lines.at(-1)).toBe('0 passed, 1 failed')
  expect(summarise({ testResults: [file('a', 'passed', 'passed')] }, 1, []).lines.at(-1)).toBe('1 passed, 1 failed')
})

it('lists skipped tests and the reasons', () => {
  const report = { testResults: [file('a', 'passed', 'passed', 'skipped', 'pending')] }
  expect(summarise(report, 0, ['mail: dovecot is missing'])).toEqual({
    lines: ['', 'Not run:', '- mail: dovecot is missing', '- 2 in a, such as "a 1"', '', '1 passed, 0 failed'],
    failed: 0,
    omitted: true,
  })
})

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const run = promisify(execFile)

it('the demo tells its whole story on a file store and ends by itself', { timeout: 120_000 }, async () => {
  const { stdout, stderr } = await run(process.execPath, ['dist/demo.js', '--once'], { timeout: 110_000 })
  expect(stdout).toMatch(/→ 5 messages:/)
  expect(stdout).toContain('Über die Primzahlen (Grüße aus Göttingen)')
  expect(stdout).toMatch(
    /signed message\.received webhook arrived \(evt_\w+\); the standardwebhooks package verified its signature/,
  )
  expect(stdout).toContain('The story is told')
  expect(stderr).toBe('')
})

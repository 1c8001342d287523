import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { visitor } from '../../src/demo/visitor.ts'
import { eventually } from '../kit/eventually.ts'

const run = promisify(execFile)

function expectScenario(stdout: string): void {
  expect(stdout).toMatch(/→ 5 messages:/)
  expect(stdout).toContain('Über die Primzahlen (Grüße aus Göttingen)')
  expect(stdout).toMatch(
    /signed message\.received webhook arrived \(evt_\w+\); the standardwebhooks package verified its signature/,
  )
}

describe('the demo', () => {
  it.each([[[]], [['--provider', 'gmail']], [['--provider', 'microsoft']]])(
    'completes on a file store and exits by itself %j',
    { timeout: 120_000 },
    async (args) => {
      const { stdout, stderr } = await run(process.execPath, ['dist/demo.js', '--once', ...args], { timeout: 110_000 })
      expectScenario(stdout)
      expect(stdout).toContain('Done: the application connected a mailbox')
      expect(stderr).toBe('')
    },
  )

  /** Starts the demo as a user does. Gives access to its output, the URL of its page and its exit code. */
  function started(name: string) {
    const demo = spawn(process.execPath, ['dist/demo.js', '--provider', name], { stdio: ['ignore', 'pipe', 'pipe'] })
    const ended = once(demo, 'exit')
    onTestFinished(() => void demo.kill('SIGKILL'))
    let output = ''
    for (const stream of [demo.stdout, demo.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString()
      })
    }
    const end = async (signal: NodeJS.Signals) => {
      demo.kill(signal)
      const [code] = await ended
      return code
    }
    const link = () =>
      eventually(() => /Open the application in your browser.*\n\n +(http\S+)/.exec(output)?.[1] ?? false)
    return { output: () => output, link, end }
  }

  it.each(['gmail', 'microsoft'])('waits for a user of %s at its page, then runs until stopped', async (name) => {
    const demo = started(name)
    const user = visitor(String(await demo.link()))
    await user.connect()
    await eventually(() => demo.output().includes('→ 5 messages:'))
    await user.requestMessage()
    await eventually(() => demo.output().includes('Press Ctrl-C to stop'))
    expectScenario(demo.output())
    expect(await demo.end('SIGINT')).toBe(0)
  })

  it.each(['SIGINT', 'SIGTERM'] as const)('stops on %s while it waits for a user', async (signal) => {
    const demo = started('gmail')
    await demo.link()
    expect([await demo.end(signal), demo.output()]).toEqual([0, expect.not.stringContaining('The demo stopped')])
  })

  it('names the known providers when given another', async () => {
    const failed = run(process.execPath, ['dist/demo.js', '--provider', 'yahoo'])
    await expect(failed).rejects.toMatchObject({
      code: 1,
      stderr: 'Unknown provider yahoo. Use imap, gmail or microsoft.\n',
    })
  })
})

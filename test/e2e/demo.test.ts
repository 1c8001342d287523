import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { visitor } from '../../src/demo/visitor.ts'
import { closing } from '../kit/closing.ts'
import { eventually } from '../kit/eventually.ts'
import { startDemo } from '../kit/service/demo.ts'
import { freePort } from '../servers/free-port.ts'

const run = promisify(execFile)

function expectScenario(stdout: string): void {
  expect(stdout).toMatch(/→ 5 messages:/)
  expect(stdout).toContain('Über die Primzahlen (Grüße aus Göttingen)')
  expect(stdout).toMatch(
    /signed message\.received webhook arrived \(evt_\w+\); the standardwebhooks package verified its signature/,
  )
}

describe('the demo', () => {
  it.each([[['--booking']], [['--provider', 'gmail']], [['--provider', 'microsoft']]])(
    'completes on a file store and exits by itself %j',
    async (args) => {
      const command = ['dist/posthorn.js', 'demo', '--once', ...args]
      const { stdout, stderr } = await run(process.execPath, command, { timeout: 500_000 })
      expectScenario(stdout)
      if (args.includes('--booking')) expect(stdout).toContain('A signed booking.confirmed webhook arrived')
      expect(stdout).toContain('Done: the application connected a mailbox')
      expect(stderr).toBe('')
    },
  )

  it('waits for a user at its page, then runs until stopped', async () => {
    const demo = closing(startDemo({ provider: 'microsoft' }))
    const user = visitor(await demo.url())
    await user.connect()
    await eventually(() => demo.output().includes('→ 5 messages:'))
    await user.requestMessage()
    await eventually(() => demo.output().includes('Press Ctrl-C to stop'))
    expectScenario(demo.output())
    expect(await demo.end('SIGINT')).toBe(0)
  })

  it.each(['SIGINT', 'SIGTERM'] as const)('stops on %s while it waits for a user', async (signal) => {
    const demo = closing(startDemo())
    await demo.url()
    expect([await demo.end(signal), demo.output()]).toEqual([0, expect.not.stringContaining('The demo stopped')])
    expect(demo.leftovers()).toEqual([])
  })

  it('opens the browser on a terminal with a desktop, unless CI is set', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'posthorn-desktop-'))
    closing({ close: async () => rmSync(folder, { recursive: true }) })
    const opened = join(folder, 'opened')
    writeFileSync(join(folder, 'xdg-open'), `#!/bin/sh\necho "$1" >> ${opened}\n`, { mode: 0o755 })
    const environment = { PATH: `${folder}:${process.env.PATH}`, DISPLAY: ':0' }
    const quiet = closing(startDemo({ terminal: true, environment: { ...environment, CI: 'true' } }))
    await quiet.url()
    const demo = closing(startDemo({ terminal: true, environment }))
    const url = await demo.url()
    await eventually(() => expect(readFileSync(opened, 'utf8')).toBe(`${url}\n`))
    expect([await quiet.end('SIGTERM'), await demo.end('SIGTERM')]).toEqual([0, 0])
    expect(readFileSync(opened, 'utf8')).toBe(`${url}\n`)
  })

  it('listens on PORT, and says in a sentence when that port is in use', async () => {
    const port = await freePort()
    const environment = { PORT: String(port) }
    const demo = closing(startDemo({ environment }))
    await demo.url()
    expect(demo.output()).toContain(`Service      http://127.0.0.1:${port} `)
    const second = run(process.execPath, ['dist/posthorn.js', 'demo'], {
      env: { PATH: process.env.PATH, ...environment },
    })
    await expect(second).rejects.toMatchObject({
      code: 1,
      stderr: `\nThe demo stopped: Port ${port} is in use by another process.\nStop it, or set PORT to another port.\n`,
    })
    expect(await demo.end('SIGINT')).toBe(0)
  })

  it('names the known providers when given another', async () => {
    const failed = run(process.execPath, ['dist/posthorn.js', 'demo', '--provider', 'yahoo'])
    await expect(failed).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Unknown provider yahoo. Use imap, gmail or microsoft.'),
    })
  })
})

import { describe, expect, it, onTestFinished } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { openGuard } from '../../../test/servers/imap-mailbox.ts'
import { type ScriptedImap, startScriptedImap } from '../../../test/servers/scripted-imap.ts'
import { silentLog } from '../../platform/log/index.ts'
import { systemClock } from '../../platform/time/clock.ts'
import { imapProvider } from '../../providers/imap/provider.ts'
import { VerificationLimit } from '../index.ts'
import { verifyImap } from './imap-check.ts'
import { parseImapConnection } from './imap-connection.ts'

const BUSY = { code: 'rate_limited', status: 429, headers: { 'retry-after': '5' } }

function task() {
  let end = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  return { end, work: () => ended }
}

describe('the limit of concurrent verifications', () => {
  it('lets the next one start when one ends, in order', async () => {
    const limit = new VerificationLimit({ total: 2, waitMs: 10_000 })
    const order: number[] = []
    const tasks = [task(), task(), task(), task()]
    const runs = tasks.map(({ work }, index) =>
      limit.run([], () => {
        order.push(index)
        return work()
      }),
    )
    expect(order).toEqual([0, 1])
    tasks[1]?.end()
    await runs[1]
    expect(order).toEqual([0, 1, 2])
    for (const { end } of tasks) end()
    await Promise.all(runs)
    expect(order).toEqual([0, 1, 2, 3])
  })

  it('counts per host and address, and refuses after a short wait', async () => {
    const limit = new VerificationLimit({ total: 9, perKey: 1, waitMs: 20 })
    const { work, end } = task()
    const first = limit.run(['host a', 'address 1'], work)
    await expect(limit.run(['host a', 'address 2'], work)).rejects.toMatchObject(BUSY)
    await expect(limit.run(['host b', 'address 1'], work)).rejects.toMatchObject(BUSY)
    await limit.run(['host b', 'address 2'], async () => {})
    end()
    await first
    await limit.run(['host a', 'address 1'], async () => {})
  })
})

function signInAt({ access }: ScriptedImap) {
  const { mail } = imapProvider({ guard: openGuard, clock: systemClock, log: silentLog })
  onTestFinished(() => mail.closeConnections())
  const { host, port } = access.settings.imap ?? {}
  const fields = { email: 'a@example.com', username: 'a', password: 'secret', allowSelfSigned: true }
  const { connection } = parseImapConnection({ ...fields, host, port })
  if (connection === undefined) throw new Error('the fields are not valid')
  return { mail, connection }
}

describe('thirty sign-ins at once', () => {
  it('to a server that sends a literal of 60 MB take little memory, and some get 429', async () => {
    const server = closing(
      await startScriptedImap({
        onCommand(name, socket) {
          if (name !== 'LOGIN' && name !== 'AUTHENTICATE') return false
          const chunk = Buffer.alloc(1024 * 1024)
          let left = 60
          socket.write('* X {62914560}\r\n')
          const more = () => {
            while (left > 0 && !socket.destroyed && socket.write(chunk)) left -= 1
          }
          socket.on('drain', more)
          more()
          return true
        },
      }),
    )
    const { mail, connection } = signInAt(server)
    const verifications = new VerificationLimit({ waitMs: 100 })
    const before = process.memoryUsage().rss
    let peak = 0
    const timer = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss - before)
    }, 5)
    const attempts = Array.from({ length: 30 }, () => verifyImap({ mail, verifications, address: '::1' }, connection))
    const outcomes = await Promise.allSettled(attempts)
    clearInterval(timer)
    const codes = outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : 'accepted'))
    expect(new Set(codes)).toEqual(new Set(['imap_unreachable', 'rate_limited']))
    expect(peak).toBeLessThan(100 * 1024 * 1024)
  })
})

describe('imports by the application', () => {
  it('may check many accounts of one host at once', async () => {
    const server = closing(await startScriptedImap({}))
    const { mail, connection } = signInAt(server)
    const verifications = new VerificationLimit({ perKey: 1, waitMs: 1 })
    const checks = Array.from({ length: 10 }, () => verifyImap({ mail, verifications }, connection))
    expect((await Promise.all(checks)).map((folders) => folders.length)).toEqual(Array(10).fill(1))
  })
})

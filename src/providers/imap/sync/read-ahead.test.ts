import { expect, it } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { FolderMirror } from '../../../../test/kit/mailbox/folder-mirror.ts'
import { openGuard } from '../../../../test/servers/imap-mailbox.ts'
import { plainMail } from '../../../../test/servers/messages.ts'
import { startStrictImap } from '../../../../test/servers/strict-imap.ts'
import { sleep } from '../../../platform/concurrency/abort.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import { imapProvider } from '../provider.ts'

const SUBJECTS = Array.from({ length: 80 }, (_, index) => `mail ${index}`)

/** A folder that is read in four steps. */
async function firstSync({ subjects = SUBJECTS, headerBytes = 0 } = {}) {
  const { server, folder, lines, spoil } = await startStrictImap()
  closing(server)
  const header = Buffer.from(`X-Long: ${'x'.repeat(headerBytes)}\r\n`)
  const write = (subject: string) => Buffer.concat([header, plainMail({ subject, messageId: `<${subject}@x>` })])
  for (const subject of subjects) folder('INBOX').add(write(subject))
  const limits = { stepMessages: subjects.length / 4 }
  const { mail } = imapProvider({ guard: openGuard, clock: systemClock, limits })
  closing({ close: () => mail.closeConnections() })
  const events = { onChange() {}, onClose() {} }
  const open = async () => closing(await mail.openSession(server.access, events, new AbortController().signal))
  const fetches = () => lines.filter((line) => line.startsWith('UID FETCH') && line.includes('BODY.PEEK[HEADER]'))
  return { spoil, open, fetches, mirror: new FolderMirror('INBOX') }
}

it('reads the next step while one is stored, but for the first and the last', async () => {
  const { mirror, open, fetches } = await firstSync()
  const counts: number[] = []
  await mirror.sync(await open(), async () => {
    const stored = mirror.steps.length
    if (stored === 2 || stored === 3) await eventually(() => expect(fetches()).toHaveLength(stored + 1))
    else await sleep(50)
    counts.push(fetches().length)
  })
  expect(counts).toEqual([1, 3, 4, 4])
  expect(mirror.subjects().sort()).toEqual(SUBJECTS.toSorted())
})

it('reads nothing ahead where a connection was lost before', async () => {
  const { mirror, open, fetches, spoil } = await firstSync()
  spoil('mail 40', 'close')
  await expect(mirror.sync(await open())).rejects.toThrow()
  spoil('mail 40', undefined)
  const [stored, asked] = [mirror.steps.length, fetches().length]
  await mirror.sync(await open(), async () => {
    await sleep(50)
    const steps = mirror.steps.length - stored
    if (steps <= 2) expect(fetches().length - asked).toBe(steps)
  })
  expect(mirror.subjects().sort()).toEqual(SUBJECTS.toSorted())
})

it('reads nothing ahead of a step of more than 8 MB', async () => {
  const subjects = Array.from({ length: 280 }, (_, index) => `mail ${index}`)
  const { mirror, open, fetches } = await firstSync({ subjects, headerBytes: 125_000 })
  await mirror.sync(await open(), async () => {
    await sleep(50)
    // The first step has fewer messages.
    expect(fetches()).toHaveLength(mirror.steps.length)
  })
  expect(mirror.subjects().sort()).toEqual(subjects.toSorted())
})

it('loses nothing when a step cannot be stored, or the connection ends while the next one is read', async () => {
  const { mirror, open, fetches, spoil } = await firstSync()
  const session = await open()
  const full = new Error('the disk is full')
  const failing = mirror.sync(session, async () => {
    if (mirror.steps.length === 2) {
      await eventually(() => expect(fetches()).toHaveLength(3))
      throw full
    }
  })
  await expect(failing).rejects.toBe(full)
  spoil('mail 10', 'close')
  await expect(mirror.sync(session)).rejects.toThrow()
  spoil('mail 10', undefined)
  await mirror.sync(await open())
  expect(mirror.subjects().sort()).toEqual(SUBJECTS.toSorted())
})

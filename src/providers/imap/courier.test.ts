import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { FolderMirror } from '../../../test/kit/mailbox/folder-mirror.ts'
import { imapAccess, openGuard } from '../../../test/servers/imap-mailbox.ts'
import { plainMail } from '../../../test/servers/messages.ts'
import { type Courier, courierAvailable, deliverAs, startCourier } from '../../../test/servers/unpacked/courier.ts'
import { systemClock } from '../../platform/time/clock.ts'
import { imapProvider } from './provider.ts'

const copy = (from: string, to: string) => promisify(execFile)('cp', ['-a', from, to])

describe.skipIf(!courierAvailable())('on Courier', () => {
  let server: Courier
  beforeAll(async () => {
    server = await startCourier()
  })
  afterAll(() => server.stop())

  async function mailbox(user: string) {
    await server.addUser(user, 'secret')
    const { mail } = imapProvider({ guard: openGuard, clock: systemClock })
    onTestFinished(() => mail.closeConnections())
    const events = { onChange() {}, onClose() {} }
    return {
      maildir: server.maildir(user),
      mirror: new FolderMirror('INBOX'),
      open: async () =>
        closing(await mail.openSession(imapAccess(server, user, 'secret'), events, new AbortController().signal)),
    }
  }

  it('keeps the UIDs of messages whose files are not in the order in which they arrived', async () => {
    const { maildir, mirror, open } = await mailbox('ann')
    await mirror.sync(await open())
    // Many delivery agents write microseconds without leading zeros.
    for (const microseconds of [9, 80, 700, 6000]) {
      const mail = plainMail({ subject: `after ${microseconds}` })
      await deliverAs(maildir, `1800000000.M${microseconds}P1.test`, mail)
      await mirror.sync(await open())
    }
    expect(mirror.subjects()).toEqual(['after 9', 'after 80', 'after 700', 'after 6000'])
  })

  it('reads the folder again that was restored from a backup', async () => {
    const { maildir, mirror, open } = await mailbox('bob')
    const deliver = (subject: string) => server.deliver('bob', plainMail({ subject }))
    const first = await open()
    await deliver('kept')
    await mirror.sync(first)
    await copy(maildir, `${maildir}.backup`)
    for (const subject of ['lost', 'lost, too']) await deliver(subject)
    await mirror.sync(first)
    await first.close()
    await rm(maildir, { recursive: true })
    await copy(`${maildir}.backup`, maildir)
    const session = await open()
    await mirror.sync(session)
    expect(mirror.subjects()).toEqual(['kept'])
    await deliver('later')
    await mirror.sync(session)
    expect(mirror.subjects()).toEqual(['kept', 'later'])
    expect(mirror.bySubject('later').isNew).toBe(true)
  })
})

import { expect, it } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { FolderMirror } from '../../../test/kit/mailbox/folder-mirror.ts'
import { openGuard } from '../../../test/servers/imap-mailbox.ts'
import { plainMail } from '../../../test/servers/messages.ts'
import { startStrictImap } from '../../../test/servers/strict-imap.ts'
import { systemClock } from '../../platform/time/clock.ts'
import { ProviderError } from '../contract/index.ts'
import { imapProvider } from './provider.ts'

const signal = new AbortController().signal

/** A folder with messages that are left to the backfill, which reads one at a time. */
async function backfilling(...subjects: string[]) {
  const imap = await startStrictImap()
  closing(imap.server)
  const { mail } = imapProvider({ guard: openGuard, clock: systemClock })
  closing({ close: () => mail.closeConnections() })
  const { access } = imap.server
  for (const subject of subjects) imap.folder('INBOX').add(plainMail({ subject }))
  const mirror = new FolderMirror('INBOX', 0)
  const session = await mail.openSession(access, { onChange() {}, onClose() {} }, signal)
  await mirror.sync(session)
  await session.close()
  const request = { path: 'INBOX', cursor: mirror.cursor ?? '', sinceMs: Date.now() - 86_400_000, limit: 1, signal }
  const read = async (position: string | null, findStored = async () => new Set<number>()) => {
    const page = await mail.backfill(access).read({ ...request, position, findStored })
    return { position: page.position, subjects: page.messages.map(({ subject }) => subject) }
  }
  return { imap, read }
}

const failing = async () => {
  throw new ProviderError('unavailable', 'the connection was lost')
}

it('returns the messages of a failed read when it is repeated', async () => {
  const { read } = await backfilling('one', 'two', 'three')
  const first = await read(null)
  expect(first.subjects).toEqual(['three'])
  await expect(read(first.position, failing)).rejects.toMatchObject({ kind: 'unavailable' })
  expect((await read(first.position)).subjects).toEqual(['two'])
})

it('returns the newest messages again when a folder is read from its beginning', async () => {
  const { read } = await backfilling('one', 'two', 'three')
  const first = await read(null)
  const second = await read(first.position)
  expect(second.subjects).toEqual(['two'])
  expect((await read(null)).subjects).toEqual(['three'])
  expect((await read(second.position)).subjects).toEqual(['one'])
})

it('says whether a read failed before it began', async () => {
  const { imap, read } = await backfilling('one', 'two', 'three')
  imap.spoil('three', 'close')
  await expect(read(null)).rejects.toMatchObject({ kind: 'unavailable', notBegun: false })
  imap.spoilFolder('INBOX', 'close')
  await expect(read(null)).rejects.toMatchObject({ kind: 'unavailable', notBegun: true })
  await imap.server.close()
  await expect(read(null)).rejects.toMatchObject({ kind: 'unavailable', notBegun: true })
})

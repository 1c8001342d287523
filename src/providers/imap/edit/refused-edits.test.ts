import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { dovecotAvailable, startDovecot } from '../../../../test/servers/dovecot.ts'
import { imapAccess, openGuard } from '../../../../test/servers/imap-mailbox.ts'
import type { ImapServer } from '../../../../test/servers/imap-server.ts'
import { startScriptedImap } from '../../../../test/servers/scripted-imap.ts'
import { courierAvailable, startCourier } from '../../../../test/servers/unpacked/courier.ts'
import { cyrusAvailable, startCyrus } from '../../../../test/servers/unpacked/cyrus.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import { ProviderError } from '../../contract/index.ts'
import { imapProvider } from '../provider.ts'

const MESSAGE = { folderPath: 'INBOX', uidValidity: '7', uid: 1 }
const DRAFT = {
  to: [],
  cc: [],
  bcc: [],
  subject: 'Hello',
  body: { text: 'x', html: null },
  date: 0,
  from: { name: '', email: 'ann@example.test' },
  messageId: '<1@example.test>',
}

function openEdits(access: Parameters<ReturnType<typeof imapProvider>['mail']['edits']>[0]) {
  const { mail } = imapProvider({ guard: openGuard, clock: systemClock })
  onTestFinished(() => mail.closeConnections())
  return { edits: mail.edits(access), drafts: mail.drafts(access, 'Drafts') }
}

/** A server that refuses one command in these words. */
async function refusing(command: string, words: string, selected: string[] = []) {
  const server = await startScriptedImap({
    folders: ['Drafts', 'Work'],
    capabilities: 'UIDPLUS MOVE',
    selected: ['1 EXISTS', 'OK [UIDVALIDITY 7] ok', 'OK [UIDNEXT 2] ok', ...selected],
    onUid: (line, say) => line.startsWith('FETCH') && say('1 FETCH (UID 1 FLAGS ())'),
    onCommand(_name, socket, tag, line) {
      if (!line.slice(tag.length + 1).startsWith(command)) return false
      socket.write(`${tag} NO ${words}\r\n`)
      return true
    },
  })
  onTestFinished(() => server.close())
  return { ...openEdits(server.access), server }
}

describe('a change that a server refuses', () => {
  it.each([
    ['UID STORE', '[NOPERM] Permission denied', 'not_permitted'],
    ['UID STORE', 'Permission denied', 'not_permitted'],
    ['UID STORE', 'Read-only mailbox.', 'folder_read_only'],
    ['UID MOVE', '[OVERQUOTA] Quota exceeded (mailbox for user is full)', 'quota_exceeded'],
    ['UID MOVE', '[ALERT] You exceeded your mail quota.', 'quota_exceeded'],
    ['UID MOVE', 'Something else', undefined],
  ])('%s with "%s" is %s', async (command, words, refusal) => {
    const { edits } = await refusing(command, words)
    const [result] = await edits.changeMessages([{ message: MESSAGE, starred: true, add: ['Work'] }])
    expect(result).toMatchObject({ kind: 'rejected', refusal })
  })

  it.each([
    ['OK [READ-ONLY] ok', 'folder_read_only'],
    ['OK [PERMANENTFLAGS ()] Cyrus', 'folder_read_only'],
    ['OK [PERMANENTFLAGS (\\Seen)] ok', 'not_permitted'],
  ])('for a folder that is opened with %s is %s', async (response, refusal) => {
    const isReadOnly = response.includes('READ-ONLY')
    const selecting = isReadOnly ? [] : [response]
    const { edits } = isReadOnly ? await readOnlyServer() : await refusing('NOTHING', '', selecting)
    const [result] = await edits.changeMessages([{ message: MESSAGE, starred: true }])
    expect(result).toMatchObject({ kind: 'rejected', refusal })
  })

  it('is rejected for a draft that does not fit', async () => {
    const { drafts } = await refusing('APPEND', 'Over quota')
    const saving = drafts.create(DRAFT, { mayExist: false })
    await expect(saving).rejects.toMatchObject({ kind: 'rejected', refusal: 'quota_exceeded' })
  })

  it.each([
    [
      '[CANNOT] Invalid mailbox name: Begins with hierarchy separator',
      'Invalid mailbox name: Begins with hierarchy separator',
    ],
    ['Invalid mailbox name.', 'Invalid mailbox name'],
  ])('is about the name of a folder: %s', async (words, nameProblem) => {
    for (const command of ['CREATE', 'RENAME']) {
      const { edits } = await refusing(command, words)
      const position = { name: '../../etc', parent: null }
      const change =
        command === 'CREATE'
          ? edits.createFolder(position)
          : edits.moveFolder({ path: 'Work', fullName: 'Work' }, position)
      await expect(change).rejects.toMatchObject({ kind: 'rejected', refusal: 'invalid_name', nameProblem })
    }
  })

  it.each([
    ['Cannot create this folder.', 'Work', { kind: 'exists' }],
    ['[ALREADYEXISTS] exists', 'Work', { kind: 'exists' }],
    ['Permission denied', 'New', { kind: 'rejected', refusal: 'not_permitted' }],
    ['[OVERQUOTA] The quota of folders is used up', 'New', { kind: 'rejected', refusal: 'quota_exceeded' }],
    ['[UNAVAILABLE] Backend is down', 'New', { kind: 'unavailable' }],
  ])('is not about the name: %s', async (words, name, expected) => {
    const { edits } = await refusing('CREATE', words)
    await expect(edits.createFolder({ name, parent: null })).rejects.toMatchObject(expected)
  })
})

/** SELECT succeeds with READ-ONLY in its last response. */
async function readOnlyServer() {
  const server = await startScriptedImap({
    selected: ['1 EXISTS', 'OK [UIDVALIDITY 7] ok', 'OK [UIDNEXT 2] ok'],
    onCommand(name, socket, tag) {
      if (name !== 'SELECT') return false
      socket.write(`* 1 EXISTS\r\n* OK [UIDVALIDITY 7] ok\r\n* OK [UIDNEXT 2] ok\r\n${tag} OK [READ-ONLY] ok\r\n`)
      return true
    },
  })
  onTestFinished(() => server.close())
  return openEdits(server.access)
}

const quotas: [string, () => boolean, () => Promise<ImapServer>][] = [
  ['Courier', courierAvailable, () => startCourier()],
  ['Cyrus', cyrusAvailable, () => startCyrus()],
  ['Dovecot', dovecotAvailable, () => startDovecot()],
]

for (const [name, isAvailable, start] of quotas) {
  describe.skipIf(!isAvailable())(`names that ${name} refuses`, () => {
    let server: ImapServer
    beforeAll(async () => {
      server = await start()
      await server.addUser('ann', 'secret')
    })
    afterAll(() => server.stop())

    it('are reported with its words', async () => {
      const { edits } = openEdits(imapAccess(server, 'ann', 'secret'))
      // Cyrus accepts `..`.
      const bad = name === 'Cyrus' ? 'a%b' : '../../etc'
      const error = await edits.createFolder({ name: bad, parent: null }).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(ProviderError)
      expect(error).toMatchObject({ refusal: 'invalid_name', nameProblem: expect.stringMatching(/[Ii]nvalid/) })
    })
  })
}

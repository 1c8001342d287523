import { describe, expect, it, onTestFinished } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { openGuard } from '../../../../test/servers/imap-mailbox.ts'
import { startScriptedImap } from '../../../../test/servers/scripted-imap.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import { imapProvider } from '../provider.ts'
import { FolderNames } from './folder-names.ts'
import { decodeModifiedUtf7, encodeModifiedUtf7 } from './modified-utf7.ts'

describe('modified UTF-7', () => {
  it.each([
    ['plain', 'plain'],
    ['R&-D', 'R&D'],
    ['Envoy&AOk-s', 'Envoyés'],
    ['&ZeVnLIqe-/&2D3eAA-', '日本語/😀'],
  ])('%s is %s', (name, text) => {
    expect([decodeModifiedUtf7(name), encodeModifiedUtf7(text)]).toEqual([text, name])
  })

  it.each(['R&D', '&', 'a & b', '&AOk', '&A-', '&AOk=-', '&AGE-', '&2D0-', 'Envoy\u00e9s', '&AOkA-'])(
    '%s is something else',
    (name) => expect(decodeModifiedUtf7(name)).toBeUndefined(),
  )
})

const toLatin1 = (text: string) => Buffer.from(text).toString('latin1')

/** The paths of a listing, in the order of the server. Names are strings of bytes. */
function readPaths(names: string[], usesUtf8 = false) {
  const folderNames = new FolderNames(() => usesUtf8)
  const listing = names.map((name) => `* LIST () "/" "${name}"\r\n`).join('')
  const passed = folderNames.pass(Buffer.from(`${listing}A1 OK done\r\n`, 'latin1')).toString()
  const keys = [...passed.matchAll(/^\* LIST \(\) "\/" "(.*)"\r\n/gm)].map((match) => match[1] ?? '')
  expect(passed).toMatch(/A1 OK done\r\n$/)
  const texts = usesUtf8 ? keys : keys.map((key) => decodeModifiedUtf7(key))
  const opened = keys.map((key) => folderNames.ownName(key, '/') ?? Buffer.from(key).toString('latin1'))
  return { texts, opened }
}

describe('names of folders', () => {
  it.each([
    ['as they should be', ['INBOX', 'R&-D', 'Envoy&AOk-s'], ['INBOX', 'R&D', 'Envoyés']],
    ['with a bare &', ['R&D', 'a & b', '&'], ['R&D', 'a & b', '&']],
    ['with broken base64', ['&AOk', 'x&A-y'], ['&AOk', 'x&A-y']],
    ['with more shifts than needed', ['&AOk-&AOk-'], ['éé']],
    ['in raw UTF-8', [toLatin1('Envoyés'), toLatin1('日本/語')], ['Envoyés', '日本/語']],
    ['in latin1', ['Envoy\xe9s'], ['Envoyés']],
    ['with characters that no text may have', ['a\x01b'], ['a%01b']],
  ])('%s are shown and opened as the server wrote them', (_, names, texts) => {
    expect(readPaths(names)).toEqual({ texts, opened: names })
  })

  it('that look the same have different paths, whatever their order', () => {
    const alike = ['Envoy&AOk-s', toLatin1('Envoyés'), 'Envoy\xe9s']
    for (const names of [alike, [...alike].reverse(), [alike[1] ?? '', alike[0] ?? '', alike[2] ?? '']]) {
      const { texts, opened } = readPaths(names)
      expect(new Map(texts.map((text, index) => [text, names[index]]))).toEqual(
        new Map([
          ['Envoyés', 'Envoy&AOk-s'],
          ['Envoy%C3%A9s', toLatin1('Envoyés')],
          ['Envoy%E9s', 'Envoy\xe9s'],
        ]),
      )
      expect(opened).toEqual(names)
    }
  })

  it('that look like an escaped name have the path of their own text', () => {
    const { texts } = readPaths(['R&D', 'R&-D', 'R%26D'])
    expect(texts).toEqual(['R%26D (2)', 'R&D', 'R%26D'])
  })

  it('are UTF-8 on a connection that uses it', () => {
    const names = [toLatin1('Envoyés'), 'R&D', 'Envoy\xe9s']
    expect(readPaths(names, true)).toEqual({ texts: ['Envoyés', 'R&D', 'Envoy%E9s'], opened: names })
  })

  it('are found in every cut of what the server sends, and never in what a message contains', () => {
    const listing = [
      '* LIST (\\HasNoChildren) "/" {3}\r\nR&D\r\n',
      '* LIST () NIL "a \\"&\\" b"\r\n',
      '* STATUS R&D (MESSAGES 1)\r\n',
      '* 1 FETCH (BODY[] {28}\r\nx\r\n* LIST () "/" "R&D"\r\n12 UID 1)\r\n',
      '* OK {3}\r\n* L* LIST () "/" "R&D"\r\n',
      'A1 OK done\r\n',
    ].join('')
    const whole = new FolderNames(() => false).pass(Buffer.from(listing, 'latin1')).toString('latin1')
    expect(whole).toBe(
      [
        '* LIST (\\HasNoChildren) "/" "R&-D"\r\n',
        '* LIST () NIL "a \\"&-\\" b"\r\n',
        '* STATUS "R&-D" (MESSAGES 1)\r\n',
        '* 1 FETCH (BODY[] {28}\r\nx\r\n* LIST () "/" "R&D"\r\n12 UID 1)\r\n',
        '* OK {3}\r\n* L* LIST () "/" "R&D"\r\n',
        'A1 OK done\r\n',
      ].join(''),
    )
    for (let length = 1; length < 20; length += 1) {
      const names = new FolderNames(() => false)
      let passed = ''
      for (let at = 0; at < listing.length; at += length) {
        passed += names.pass(Buffer.from(listing.slice(at, at + length), 'latin1')).toString('latin1')
      }
      expect(passed).toBe(whole)
    }
  })

  it('of a child that is to be made begin with what the server calls the folder above', () => {
    const names = new FolderNames(() => false)
    names.pass(Buffer.from('* LIST () "/" "R&D"\r\nA1 OK done\r\n'))
    expect(names.ownName('R&-D/&AOk-/x', '/')).toBe('R&D/&AOk-/x')
    expect(names.ownName('R&-D2', '/')).toBeUndefined()
  })
})

/** A server that knows its folders by their bytes only. */
async function byteServer(folders: string[]) {
  const opened: string[] = []
  const server = closing(
    await startScriptedImap({
      onCommand(name, socket, tag, line) {
        const write = (text: string) => void socket.write(Buffer.from(text, 'latin1'))
        if (name === 'LIST' && line.endsWith('"*"')) {
          write([...folders, 'INBOX'].map((folder) => `* LIST () "/" "${folder}"\r\n`).join(''))
          write(`${tag} OK done\r\n`)
          return true
        }
        if (!['EXAMINE', 'SELECT', 'STATUS', 'CREATE', 'DELETE'].includes(name)) return false
        const [, folder = ''] = /^\S+ \S+ "?([^"]*?)"?( \(.*)?$/.exec(line) ?? []
        opened.push(`${name} ${folder}`)
        if (['INBOX', ...folders].includes(folder) || name === 'CREATE') return false
        write(`${tag} NO [NONEXISTENT] Unknown mailbox\r\n`)
        return true
      },
      selected: ['0 EXISTS', 'OK [UIDVALIDITY 7] ok', 'OK [UIDNEXT 1] ok'],
    }),
  )
  const { mail } = imapProvider({ guard: openGuard, clock: systemClock })
  onTestFinished(() => mail.closeConnections())
  return { mail, access: server.access, opened }
}

describe('a server that writes names as it likes', () => {
  it.each([
    ['R&D', 'R&D'],
    [toLatin1('Envoyés'), 'Envoyés'],
    ['Envoy\xe9s', 'Envoyés'],
    ['&', '&'],
  ])('has %j opened on a connection that has listed nothing', async (folder, path) => {
    const { mail, access, opened } = await byteServer([folder])
    expect(await mail.liveReads(access).listMessages(path, { limit: 1 })).toEqual({ messages: [], total: 0 })
    expect(opened.at(-1)).toBe(`EXAMINE ${folder}`)
  })

  it('lists the folders with the paths that open them', async () => {
    const { mail, access } = await byteServer(['R&D', 'R&-D', toLatin1('Größe')])
    const live = mail.liveReads(access)
    const paths = (await live.listFolders()).map(({ path }) => path)
    expect(paths.sort()).toEqual(['Größe', 'INBOX', 'R%26D', 'R&D'])
    for (const path of paths) expect(await live.listMessages(path, { limit: 1 })).toMatchObject({ total: 0 })
  })

  it('has a folder opened under its escaped path', async () => {
    const { mail, access, opened } = await byteServer(['R&D', 'R&-D'])
    expect(await mail.liveReads(access).listMessages('R%26D', { limit: 1 })).toMatchObject({ total: 0 })
    expect(opened).toEqual(['EXAMINE R%26D', 'EXAMINE R&D'])
  })

  it('gets its own names in a sync, and from changes of folders', async () => {
    const { mail, access, opened } = await byteServer(['R&D'])
    const events = { onChange() {}, onClose() {} }
    const session = closing(await mail.openSession(access, events, new AbortController().signal))
    await session.listFolders()
    expect(await session.changedFolders([{ path: 'R&D', cursor: null }])).toEqual(['R&D'])
    await mail.edits(access).deleteFolder({ path: 'R&D', fullName: 'R&D' })
    expect(opened).toEqual(['STATUS R&D', 'EXAMINE INBOX', 'DELETE R&-D', 'DELETE R&D'])
  })

  it('reports a folder that is under no name there', async () => {
    const { mail, access } = await byteServer(['R&D'])
    const missing = { kind: 'not_found' }
    await expect(mail.liveReads(access).listMessages('Größe', { limit: 1 })).rejects.toMatchObject(missing)
  })
})

import type { TLSSocket } from 'node:tls'
import { type ScriptedImap, startScriptedImap } from './scripted-imap.ts'
import { StrictFolder, type StrictMessage } from './strict-mailbox.ts'

export interface StrictImapOptions {
  /** Folders beside INBOX. */
  folders?: string[]
  /** CONDSTORE and QRESYNC. */
  withoutQresync?: boolean
  /** How many connections may be logged in at once. */
  maxLogins?: number
  /** EXAMINE and STATUS invent a UIDVALIDITY until a SELECT has stored one. */
  storesOnSelect?: boolean
  /** SELECT and EXAMINE leave out UIDNEXT, as on Courier. */
  withoutUidNext?: boolean
}

export interface StrictImap {
  server: ScriptedImap
  /** The folder with this path, which is made if there is none. */
  folder(path: string): StrictFolder
  delete(path: string): void
  /**
   * From now on, contents of messages with this text are not returned: the server refuses the command, ends the connection, sends what no
   * parser reads, or 6 MB in place of any part. `undefined`: they are returned again.
   */
  spoil(text: string, how: Spoiling | undefined): void
  /** From now on, this folder cannot be selected: the server refuses that and STATUS, or ends the connection. `undefined`: it can again. */
  spoilFolder(path: string, how: 'refuse' | 'close' | undefined): void
  /** The received commands with their arguments, in order. */
  lines: string[]
  /** Called with each command before its response. */
  beforeResponse: (line: string) => void
}

type Spoiling = 'refuse' | 'close' | 'garbage' | 'huge'

/** One connection: the selected folder, and the messages that the client knows of. */
interface Session {
  socket: TLSSocket
  folder: StrictFolder | undefined
  uidValidity: number
  known: StrictMessage[]
  isReadOnly: boolean
  isIdle: boolean
  hasQresync: boolean
}

const CRLF = '\r\n'

/**
 * An IMAP server with messages that plays the letter of RFC 3501 and 7162 where Dovecot is generous: `*` is the highest UID that still
 * exists, VANISHED names UIDs of the requested set only, and a folder opened by EXAMINE accepts no change.
 */
export async function startStrictImap(options: StrictImapOptions = {}): Promise<StrictImap> {
  const sessions = new Map<TLSSocket, Session>()
  const folders = new Map<string, StrictFolder>()
  const stored = new Set<StrictFolder>()
  const lines: string[] = []
  const spoilt = new Map<string, Spoiling>()
  const spoiltFolders = new Map<string, 'refuse' | 'close'>()
  let validities = 1_700_000_000

  function folder(path: string): StrictFolder {
    const found = folders.get(path)
    if (found !== undefined) return found
    validities += 1000
    const made = new StrictFolder(path, validities)
    made.onChange = () => {
      for (const session of sessions.values()) if (session.folder === made && session.isIdle) report(session)
    }
    folders.set(path, made)
    return made
  }

  /** The UIDVALIDITY that the server reports: an invented one lasts as long as the response. */
  function chooseValidity(folder: StrictFolder): number {
    if (!options.storesOnSelect || stored.has(folder)) return folder.uidValidity
    validities += 1
    return validities
  }

  function select(session: Session, path: string, isReadOnly: boolean): string[] | undefined {
    const selected = spoiltFolders.has(path) ? undefined : folders.get(path)
    session.folder = selected
    if (spoiltFolders.get(path) === 'close') session.socket.destroy()
    if (selected === undefined) return undefined
    if (!isReadOnly && options.storesOnSelect && !stored.has(selected)) {
      selected.uidValidity = chooseValidity(selected)
      stored.add(selected)
    }
    session.uidValidity = chooseValidity(selected)
    session.known = [...selected.messages]
    session.isReadOnly = isReadOnly
    return [
      `${selected.messages.length} EXISTS`,
      `OK [UIDVALIDITY ${session.uidValidity}] ok`,
      ...(options.withoutUidNext ? [] : [`OK [UIDNEXT ${selected.uidNext}] ok`]),
      ...(options.withoutQresync ? [] : [`OK [HIGHESTMODSEQ ${selected.modseq}] ok`]),
    ]
  }

  function status(path: string): string[] | undefined {
    const folder = folders.get(path)
    if (folder === undefined || spoiltFolders.get(path) === 'refuse') return undefined
    const unseen = folder.messages.filter(({ flags }) => !flags.has('\\Seen')).length
    const items = [
      `MESSAGES ${folder.messages.length} UNSEEN ${unseen} UIDNEXT ${folder.uidNext} UIDVALIDITY ${chooseValidity(folder)}`,
      ...(options.withoutQresync ? [] : [`HIGHESTMODSEQ ${folder.modseq}`]),
    ]
    return [`STATUS ${path} (${items.join(' ')})`]
  }

  /** Untagged lines of a command, undefined when it is refused. */
  function respond(session: Session, name: string, args: string): string[] | undefined {
    const path = unquoted(/^("[^"]*"|\S+)/.exec(args)?.[0] ?? '')
    if (name === 'LIST') return list(args)
    if (name === 'STATUS') return status(path)
    if (name === 'SELECT' || name === 'EXAMINE') return select(session, path, name === 'EXAMINE')
    if (name === 'ENABLE') {
      session.hasQresync = !options.withoutQresync
      return [session.hasQresync ? 'ENABLED CONDSTORE QRESYNC' : 'ENABLED']
    }
    if (name === 'NOOP') return changes(session)
    if (name === 'SEARCH')
      return [
        `SEARCH ${search(session, args)
          .map(({ seq }) => seq)
          .join(' ')}`.trim(),
      ]
    if (name === 'UID') return respondUid(session, args)
    return []
  }

  function respondUid(session: Session, args: string): string[] | undefined {
    const [name = '', ...rest] = args.split(' ')
    const criteria = rest.join(' ')
    if (name === 'SEARCH')
      return [
        `SEARCH ${search(session, criteria)
          .map(({ message }) => message.uid)
          .join(' ')}`.trim(),
      ]
    if (name === 'FETCH') return fetch(session, criteria, howSpoilt)
    if (name === 'STORE') return session.isReadOnly ? undefined : store(session, criteria)
    if (name === 'EXPUNGE') return session.isReadOnly ? undefined : expunge(session, criteria)
    return undefined
  }

  function howSpoilt({ raw }: StrictMessage): Spoiling | undefined {
    for (const [text, how] of spoilt) if (raw.includes(text)) return how
    return undefined
  }

  function list(args: string): string[] {
    if (args.startsWith('"" ""')) return ['LIST (\\Noselect) "/" ""']
    return [...folders.keys()].map((path) => `LIST () "/" ${path}`)
  }

  const server = await startScriptedImap({
    capabilities: options.withoutQresync ? 'UIDPLUS' : 'ENABLE UIDPLUS CONDSTORE QRESYNC',
    onIdle(_say, socket) {
      const session = sessions.get(socket)
      if (session === undefined) return
      session.isIdle = true
      report(session)
    },
    onCommand(name, socket, tag, line) {
      const session = sessions.get(socket)
      const args = line.slice(tag.length + name.length + 2)
      lines.push(`${name} ${args}`.trim())
      imap.beforeResponse(`${name} ${args}`.trim())
      if (name === 'DONE' || name === 'CAPABILITY' || name === 'LOGOUT' || name === 'NAMESPACE' || name === 'ID') {
        if (name === 'DONE' && session !== undefined) session.isIdle = false
        return false
      }
      if (name === 'LOGIN' || name === 'AUTHENTICATE') return refuseLogin(socket, tag)
      if (session === undefined) return false
      const untagged = respond(session, name, args)
      const reported = untagged === undefined || name !== 'UID' ? [] : changes(session)
      const text = [...(untagged ?? []), ...reported].map((line) => `* ${line}${CRLF}`).join('')
      const completion = untagged === undefined ? 'NO refused' : `OK${session.isReadOnly ? ' [READ-ONLY]' : ''} done`
      socket.write(`${text}${tag} ${completion}${CRLF}`, 'latin1')
      return true
    },
  })

  function refuseLogin(socket: TLSSocket, tag: string): boolean {
    if (sessions.size >= (options.maxLogins ?? Number.POSITIVE_INFINITY)) {
      socket.write(`${tag} NO Too many open connections${CRLF}`)
      return true
    }
    socket.once('close', () => sessions.delete(socket))
    sessions.set(socket, {
      socket,
      folder: undefined,
      uidValidity: 0,
      known: [],
      isReadOnly: true,
      isIdle: false,
      hasQresync: false,
    })
    return false
  }

  folder('INBOX')
  for (const path of options.folders ?? []) folder(path)
  const imap: StrictImap = {
    server,
    folder,
    delete(path) {
      folders.delete(path)
    },
    spoil(text, how) {
      if (how === undefined) spoilt.delete(text)
      else spoilt.set(text, how)
    },
    spoilFolder(path, how) {
      if (how === undefined) spoiltFolders.delete(path)
      else spoiltFolders.set(path, how)
    },
    lines,
    beforeResponse: () => {},
  }
  return imap
}

/** Sends what has changed in the selected folder while the client is idle. */
function report(session: Session): void {
  const text = changes(session).map((line) => `* ${line}${CRLF}`)
  if (text.length > 0) session.socket.write(text.join(''))
}

/** Lists the changes in the selected folder that the client does not know yet. */
function changes(session: Session): string[] {
  const { folder, known, hasQresync } = session
  if (folder === undefined) return []
  const now = new Set(folder.messages)
  const gone = known.filter((message) => !now.has(message))
  const before = new Set(known)
  const hasArrivals = folder.messages.some((message) => !before.has(message))
  const expunges = gone.map((message) => {
    const seq = session.known.indexOf(message) + 1
    session.known = session.known.filter((candidate) => candidate !== message)
    return hasQresync ? `VANISHED ${message.uid}` : `${seq} EXPUNGE`
  })
  session.known = [...folder.messages]
  return [...expunges, ...(hasArrivals ? [`${folder.messages.length} EXISTS`] : [])]
}

interface Found {
  seq: number
  message: StrictMessage
}

/** Keys: a sequence set, UID, SINCE, BEFORE, DELETED. */
function search({ known }: Session, criteria: string): Found[] {
  const words = criteria.split(' ')
  const tests: ((found: Found) => boolean)[] = []
  while (words.length > 0) {
    const key = (words.shift() ?? '').toUpperCase()
    if (key === 'ALL') continue
    if (key === 'UID') tests.push(inSet(words.shift() ?? '', highestUid(known), ({ message }) => message.uid))
    else if (key === 'SINCE') tests.push(received(words.shift() ?? '', (time, day) => time >= day))
    else if (key === 'BEFORE') tests.push(received(words.shift() ?? '', (time, day) => time < day))
    else if (key === 'DELETED') tests.push(({ message }) => message.flags.has('\\Deleted'))
    else tests.push(inSet(key, known.length, ({ seq }) => seq))
  }
  return known
    .map((message, index) => ({ seq: index + 1, message }))
    .filter((found) => tests.every((test) => test(found)))
}

function received(day: string, test: (time: number, day: number) => boolean) {
  return ({ message }: Found) => test(message.internalDate.getTime(), Date.parse(`${unquoted(day)} 00:00:00 +0000`))
}

function inSet(set: string, highest: number, toNumber: (found: Found) => number): (found: Found) => boolean {
  return (found) => parseRanges(set, highest).some(([low, high]) => toNumber(found) >= low && toNumber(found) <= high)
}

function highestUid(messages: readonly StrictMessage[]): number {
  return messages.at(-1)?.uid ?? 0
}

/** Its `*` is the highest number that is in use, and the order of the two ends does not matter. */
function parseRanges(set: string, highest: number): [number, number][] {
  const toNumber = (text: string) => (text === '*' ? highest : Number(text))
  return set.split(',').map((range) => {
    const [first = '', last = first] = range.split(':')
    const ends = [toNumber(first), toNumber(last)]
    return [Math.min(...ends), Math.max(...ends)]
  })
}

/** Undefined when it is refused. */
function fetch(
  session: Session,
  args: string,
  howSpoilt: (message: StrictMessage) => Spoiling | undefined,
): string[] | undefined {
  const [set = ''] = args.split(' ')
  const ranges = parseRanges(set, highestUid(session.known))
  const isIn = (uid: number) => ranges.some(([low, high]) => uid >= low && uid <= high)
  const since = Number(/CHANGEDSINCE (\d+)/.exec(args)?.[1] ?? 0)
  const wanted = session.known.filter((message) => isIn(message.uid) && message.modseq > since)
  const faults = args.includes('BODY') ? wanted.map(howSpoilt) : []
  if (faults.includes('close')) session.socket.destroy()
  if (faults.includes('refuse')) return undefined
  const rows = wanted.map((message, index) => {
    const seq = session.known.indexOf(message) + 1
    if (faults[index] === 'garbage') return `${seq} FETCH (UID ${message.uid} (((((`
    return row(faults[index] === 'huge' ? withHugeParts(message) : message, seq, args)
  })
  if (!args.includes('VANISHED')) return rows
  const vanished = (session.folder?.expunged ?? []).filter(({ uid, modseq }) => isIn(uid) && modseq > since)
  return vanished.length === 0 ? rows : [`VANISHED (EARLIER) ${vanished.map(({ uid }) => uid).join(',')}`, ...rows]
}

const HUGE_BYTES = 6 * 1024 * 1024

/** Its header and its text are longer than what is asked for, and are returned entirely. */
function withHugeParts(message: StrictMessage): StrictMessage & { isWhole: true } {
  const filler = Buffer.from(`X-Filler: ${'x'.repeat(HUGE_BYTES)}\r\n`)
  return { ...message, raw: Buffer.concat([filler, message.raw, filler]), isWhole: true }
}

function row(
  { uid, raw, flags, internalDate, modseq, isWhole = false }: StrictMessage & { isWhole?: boolean },
  seq: number,
  query: string,
): string {
  const end = raw.indexOf('\r\n\r\n') + 4
  const [header, text] = [raw.subarray(0, end), raw.subarray(end)]
  const items = [`UID ${uid}`, `FLAGS (${[...flags].join(' ')})`]
  if (query.includes('MODSEQ') || query.includes('CHANGEDSINCE')) items.push(`MODSEQ (${modseq})`)
  if (query.includes('RFC822.SIZE')) items.push(`RFC822.SIZE ${raw.length}`)
  if (query.includes('INTERNALDATE')) items.push(`INTERNALDATE "${imapDate(internalDate)}"`)
  if (query.includes('BODYSTRUCTURE')) {
    items.push(`BODYSTRUCTURE ("TEXT" "PLAIN" ("CHARSET" "utf-8") NIL NIL "8BIT" ${text.length} 1)`)
  }
  const sections: Record<string, Buffer> = { HEADER: header, TEXT: text, '1': text, '': raw }
  for (const [, section = '', start, length] of query.matchAll(/BODY\.PEEK\[([A-Z0-9]*)\](?:<(\d+)\.(\d+)>)?/g)) {
    const from = isWhole ? 0 : Number(start ?? 0)
    const to = isWhole ? raw.length : from + Number(length ?? raw.length)
    const part = (sections[section] ?? Buffer.alloc(0)).subarray(from, to)
    const name = `BODY[${section}]${start === undefined ? '' : `<${start}>`}`
    items.push(`${name} {${part.length}}${CRLF}${part.toString('latin1')}`)
  }
  const fields = /BODY\.PEEK\[HEADER\.FIELDS \(([^)]*)\)\]/.exec(query)
  if (fields?.[1] !== undefined) {
    const names = fields[1].toLowerCase().split(' ')
    const kept = header
      .toString('latin1')
      .split(CRLF)
      .filter((line) => names.includes(line.split(':')[0]?.toLowerCase() ?? ''))
    const block = [...kept, '', ''].join(CRLF)
    items.push(`BODY[HEADER.FIELDS (${fields[1]})] {${block.length}}${CRLF}${block}`)
  }
  return `${seq} FETCH (${items.join(' ')})`
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

function imapDate(date: Date): string {
  const day = String(date.getUTCDate()).padStart(2, '0')
  return `${day}-${MONTHS[date.getUTCMonth()]}-${date.getUTCFullYear()} ${date.toISOString().slice(11, 19)} +0000`
}

function store(session: Session, args: string): string[] {
  const [set = '', action = ''] = args.split(' ')
  const [, flags = ''] = /\(([^)]*)\)/.exec(args) ?? []
  const isIn = inSet(set, highestUid(session.known), ({ message }) => message.uid)
  for (const message of session.known.filter((message) => isIn({ seq: 0, message }))) {
    for (const flag of flags.split(' '))
      session.folder?.flag(message.raw.toString('latin1'), flag, !action.startsWith('-'))
  }
  return []
}

function expunge(session: Session, set: string): string[] {
  const isIn = inSet(set, highestUid(session.known), ({ message }) => message.uid)
  for (const message of session.known.filter(
    (message) => isIn({ seq: 0, message }) && message.flags.has('\\Deleted'),
  )) {
    session.folder?.remove(message.raw.toString('latin1'))
  }
  return []
}

function unquoted(text: string): string {
  return text.replace(/^"(.*)"$/, '$1')
}

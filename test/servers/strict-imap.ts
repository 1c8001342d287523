import type { TLSSocket } from 'node:tls'
import { type ScriptedImap, startScriptedImap } from './scripted-imap.ts'
import { fetch, type Spoiling } from './strict-imap/fetch.ts'
import { StrictFolder, type StrictMessage } from './strict-imap/mailbox.ts'
import { search, unquoted } from './strict-imap/search.ts'
import { changes, expunge, report, type Session, store } from './strict-imap/session.ts'

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
   * From now on, contents of messages with this text are not returned: the server refuses the command, ends the connection, responds to
   * nothing over it, sends what no parser reads, or 6 MB in place of any part. `undefined`: they are returned again.
   */
  spoil(text: string, how: Spoiling | undefined): void
  /**
   * From now on, this folder cannot be selected: the server refuses that and STATUS, asks for a pause, or ends the connection. `undefined`: it
   * can again.
   */
  spoilFolder(path: string, how: FolderSpoiling | undefined): void
  /** The received commands with their arguments, in order. */
  lines: string[]
  /** Called with each command before its response. */
  beforeResponse: (line: string) => void
}

type FolderSpoiling = 'refuse' | 'limit' | 'close'

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
  const spoiltFolders = new Map<string, FolderSpoiling>()
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

  function refusal(name: string, args: string): string {
    const isLimited = ['SELECT', 'EXAMINE'].includes(name) && spoiltFolders.get(pathIn(args)) === 'limit'
    return isLimited ? 'NO [LIMIT] Too many commands' : 'NO refused'
  }

  /** Untagged lines of a command, undefined when it is refused. */
  function respond(session: Session, name: string, args: string): string[] | undefined {
    const path = pathIn(args)
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
        `SEARCH ${search(session.known, args)
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
        `SEARCH ${search(session.known, criteria)
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
      if (session.isHanging) return true
      const reported = untagged === undefined || name !== 'UID' ? [] : changes(session)
      const text = [...(untagged ?? []), ...reported].map((line) => `* ${line}${CRLF}`).join('')
      const completion =
        untagged === undefined ? refusal(name, args) : `OK${session.isReadOnly ? ' [READ-ONLY]' : ''} done`
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
      isHanging: false,
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

/** The folder that a command begins with. */
function pathIn(args: string): string {
  return unquoted(/^("[^"]*"|\S+)/.exec(args)?.[0] ?? '')
}

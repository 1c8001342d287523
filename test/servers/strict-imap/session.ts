import type { TLSSocket } from 'node:tls'
import type { StrictFolder, StrictMessage } from './mailbox.ts'
import { highestUid, inSet } from './search.ts'

/** One connection: the selected folder, and the messages that the client knows of. */
export interface Session {
  socket: TLSSocket
  folder: StrictFolder | undefined
  uidValidity: number
  known: StrictMessage[]
  isReadOnly: boolean
  isIdle: boolean
  hasQresync: boolean
  /** The server responds to no command. */
  isHanging: boolean
}

/** Sends what has changed in the selected folder while the client is idle. */
export function report(session: Session): void {
  const text = changes(session).map((line) => `* ${line}\r\n`)
  if (text.length > 0) session.socket.write(text.join(''))
}

/** Lists the changes in the selected folder that the client does not know yet. */
export function changes(session: Session): string[] {
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

export function store(session: Session, args: string): string[] {
  const [set = '', action = ''] = args.split(' ')
  const [, flags = ''] = /\(([^)]*)\)/.exec(args) ?? []
  const isIn = inSet(set, highestUid(session.known), ({ message }) => message.uid)
  for (const message of session.known.filter((message) => isIn({ seq: 0, message }))) {
    for (const flag of flags.split(' '))
      session.folder?.flag(message.raw.toString('latin1'), flag, !action.startsWith('-'))
  }
  return []
}

export function expunge(session: Session, set: string): string[] {
  const isIn = inSet(set, highestUid(session.known), ({ message }) => message.uid)
  for (const message of session.known.filter(
    (message) => isIn({ seq: 0, message }) && message.flags.has('\\Deleted'),
  )) {
    session.folder?.remove(message.raw.toString('latin1'))
  }
  return []
}

import type { StrictMessage } from './mailbox.ts'
import { highestUid, parseRanges } from './search.ts'
import type { Session } from './session.ts'

export type Spoiling = 'refuse' | 'close' | 'hang' | 'garbage' | 'huge'

const CRLF = '\r\n'

/** Undefined when it is refused. */
export function fetch(
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
  if (faults.includes('hang')) session.isHanging = true
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

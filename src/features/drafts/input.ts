import { type ErrorDetail, invalidFields } from '../../lib/errors.ts'
import type { DraftBody, RemoteAddress } from '../../providers/contract/index.ts'
import { parseAddress } from '../../providers/mime/index.ts'

interface Recipients {
  to?: string[] | undefined
  cc?: string[] | undefined
  bcc?: string[] | undefined
}

/** Parses the lists that are given. Throws `validation_failed` with one error per invalid address. */
export function parseRecipients(given: Recipients): {
  to?: RemoteAddress[]
  cc?: RemoteAddress[]
  bcc?: RemoteAddress[]
} {
  const errors: ErrorDetail[] = []
  const list = (name: keyof Recipients): RemoteAddress[] | undefined =>
    given[name]?.flatMap((text, index) => {
      const { address, problem } = parseAddress(text)
      if (address === undefined) errors.push({ path: `body.${name}.${index}`, message: problem })
      return address ?? []
    })
  const [to, cc, bcc] = [list('to'), list('cc'), list('bcc')]
  if (errors.length > 0) throw invalidFields(errors)
  return { ...(to && { to }), ...(cc && { cc }), ...(bcc && { bcc }) }
}

export function bodyOf(text: string, isHtml: boolean): DraftBody {
  return isHtml ? { text: null, html: text } : { text, html: null }
}

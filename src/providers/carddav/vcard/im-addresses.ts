import type { ContactImAddress } from '../../contract/index.ts'
import type { CardLine } from './card.ts'
import { textValue } from './values.ts'

/** Properties of programs that are older than IMPP, with their services. */
const SERVICES: Readonly<Record<string, string>> = {
  'X-AIM': 'aim',
  'X-GADUGADU': 'gadugadu',
  'X-GOOGLE-TALK': 'gtalk',
  'X-GROUPWISE': 'groupwise',
  'X-GTALK': 'gtalk',
  'X-ICQ': 'icq',
  'X-JABBER': 'jabber',
  'X-MSN': 'msn',
  'X-SKYPE': 'skype',
  'X-SKYPE-USERNAME': 'skype',
  'X-YAHOO': 'yahoo',
}
export const IM_NAMES = ['IMPP', ...Object.keys(SERVICES)]

/** The service is the scheme, `skype:ann`, unless the program names it. */
export function readImAddress(line: CardLine): ContactImAddress {
  const text = textValue(line).trim()
  const known = SERVICES[line.name]
  if (known !== undefined) return { imAddress: text, type: known }
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]*):(.+)$/i.exec(text) ?? []
  const named = line.parameters.get('X-SERVICE-TYPE')?.[0] ?? line.parameters.get('SERVICE-TYPE')?.[0]
  const address = scheme === '' ? text : rest
  return { imAddress: address, type: (named ?? scheme).toLowerCase() }
}

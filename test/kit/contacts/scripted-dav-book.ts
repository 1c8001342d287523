import { onTestFinished } from 'vitest'
import type { ContactEdits, ContactsAccount } from '../../../src/providers/contract/index.ts'
import { type DavCall, type DavReply, multistatus, startDavServer } from '../../servers/dav-server.ts'
import { vcard } from '../../servers/vcards.ts'
import { caldavAccess } from '../calendars/caldav.ts'
import { testCarddav } from './carddav.ts'

export const BOOK = '/home/b/'
const HOME = '<CR:addressbook-home-set><D:href>/home/</D:href></CR:addressbook-home-set>'
const ETAG = '<D:getetag>"1"</D:getetag>'

/**
 * A server with the address book `/home/b/`, which lists one object by PROPFIND and sends a vCard for each that is asked for by path.
 * `reply` is asked before.
 */
export async function scriptedDavBook(
  reply: (call: DavCall) => DavReply | undefined,
): Promise<{ account: ContactsAccount; edits: ContactEdits; calls: DavCall[] }> {
  const server = await startDavServer((call) => reply(call) ?? usual(call))
  const { provider, close } = testCarddav()
  onTestFinished(async () => {
    await close()
    await server.close()
  })
  const access = caldavAccess(`http://127.0.0.1:${server.port}/`, 'ada', 'secret')
  return { account: provider.open(access), edits: provider.edits(access), calls: server.calls }
}

function usual({ line, body, depth }: DavCall): DavReply {
  if (line === 'PROPFIND /') return multistatus({ '/': HOME })
  if (line === `PROPFIND ${BOOK}` && depth === '1') return multistatus({ [`${BOOK}1.vcf`]: ETAG })
  if (line === `PROPFIND ${BOOK}`) return multistatus({ [BOOK]: '<D:sync-token>t1</D:sync-token>' })
  return body.includes('addressbook-multiget') ? cardsAsked(body) : { status: 404 }
}

/** A vCard under each path that a multiget asks for; its UID is the name of the object. */
function cardsAsked(body: string, text = (uid: string) => vcard(uid, { displayName: uid })): DavReply {
  const hrefs = [...body.matchAll(/<D:href>([^<]+)</g)].map(([, href = '']) => href)
  const uidOf = (href: string) => href.slice(href.lastIndexOf('/') + 1).replace('.vcf', '')
  return multistatus(Object.fromEntries(hrefs.map((href) => [href, cardData(text(uidOf(href)))])))
}

/** The properties of an object. */
function cardData(text: string): string {
  return `${ETAG}<CR:address-data>${text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</CR:address-data>`
}

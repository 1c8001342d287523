import type { ProviderName } from '../../../providers/contract/index.ts'

/** What a provider asks of people before a mail program may sign in. */
type Demand = 'app password' | 'switched on' | 'mail password' | 'bridge' | 'no passwords'

export interface KnownServer {
  /** As its users call it. */
  name: string
  /** Absent where the provider has no IMAP server of its own to reach. */
  host: string | undefined
  port: number
  demand: Demand | undefined
}

/** Every one of them speaks TLS from the first byte here. */
const PORT = 993

/** Name, IMAP host, what it demands, domains of its addresses. Public facts from the providers' own help pages. */
const SERVERS: readonly (readonly [name: string, host: string, demand: Demand | '', domains: string])[] = [
  ['Gmail', 'imap.gmail.com', 'app password', 'gmail.com googlemail.com'],
  [
    'Outlook',
    'outlook.office365.com',
    'no passwords',
    'outlook.com outlook.de outlook.fr outlook.es outlook.it outlook.jp outlook.com.br outlook.co.uk hotmail.com hotmail.co.uk hotmail.de hotmail.fr hotmail.it hotmail.es live.com live.de live.fr live.nl live.it live.co.uk msn.com passport.com',
  ],
  ['iCloud Mail', 'imap.mail.me.com', 'app password', 'icloud.com me.com mac.com'],
  [
    'Yahoo Mail',
    'imap.mail.yahoo.com',
    'app password',
    'yahoo.com ymail.com rocketmail.com yahoo.ca yahoo.co.uk yahoo.co.in yahoo.in yahoo.co.id yahoo.co.nz yahoo.co.za yahoo.com.ar yahoo.com.au yahoo.com.br yahoo.com.hk yahoo.com.mx yahoo.com.my yahoo.com.ph yahoo.com.sg yahoo.com.tw yahoo.com.vn yahoo.de yahoo.dk yahoo.es yahoo.fr yahoo.gr yahoo.ie yahoo.it yahoo.no yahoo.pl yahoo.ro yahoo.se',
  ],
  ['Yahoo! JAPAN', 'imap.mail.yahoo.co.jp', 'switched on', 'yahoo.co.jp'],
  ['AOL Mail', 'imap.aol.com', 'app password', 'aol.com aim.com aol.co.uk aol.de aol.fr verizon.net'],
  ['AT&T Mail', 'imap.mail.att.net', 'app password', 'att.net sbcglobal.net bellsouth.net'],
  ['GMX', 'imap.gmx.net', 'switched on', 'gmx.de gmx.net gmx.at gmx.ch'],
  ['GMX', 'imap.gmx.com', 'switched on', 'gmx.com gmx.us gmx.co.uk gmx.fr gmx.es'],
  ['WEB.DE', 'imap.web.de', 'switched on', 'web.de'],
  ['mail.com', 'imap.mail.com', 'switched on', 'mail.com email.com usa.com'],
  ['Telekom Mail', 'secureimap.t-online.de', 'mail password', 't-online.de magenta.de'],
  ['freenet', 'mx.freenet.de', 'switched on', 'freenet.de'],
  ['Fastmail', 'imap.fastmail.com', 'app password', 'fastmail.com fastmail.fm messagingengine.com'],
  ['mailbox.org', 'imap.mailbox.org', '', 'mailbox.org'],
  ['Posteo', 'posteo.de', '', 'posteo.de posteo.net posteo.org posteo.eu posteo.at posteo.ch posteo.us'],
  ['Mailfence', 'imap.mailfence.com', '', 'mailfence.com'],
  ['StartMail', 'imap.startmail.com', 'app password', 'startmail.com'],
  ['Runbox', 'mail.runbox.com', '', 'runbox.com'],
  ['Disroot', 'disroot.org', '', 'disroot.org'],
  ['Riseup', 'mail.riseup.net', '', 'riseup.net'],
  ['Zoho Mail', 'imap.zoho.com', 'switched on', 'zoho.com zohomail.com'],
  ['Zoho Mail', 'imap.zoho.eu', 'switched on', 'zohomail.eu'],
  ['Zoho Mail', 'imap.zoho.in', 'switched on', 'zohomail.in'],
  ['Infomaniak', 'mail.infomaniak.com', '', 'ik.me ikmail.com etik.com'],
  ['Bluewin', 'imaps.bluewin.ch', '', 'bluewin.ch'],
  ['OVHcloud', 'ssl0.ovh.net', '', ''],
  ['IONOS', 'imap.ionos.com', '', ''],
  ['IONOS', 'imap.ionos.de', '', 'online.de'],
  ['IONOS', 'imap.ionos.co.uk', '', ''],
  ['IONOS', 'imap.ionos.fr', '', ''],
  ['IONOS', 'imap.ionos.es', '', ''],
  ['Gandi', 'mail.gandi.net', '', ''],
  ['STRATO', 'imap.strato.de', '', ''],
  ['Migadu', 'imap.migadu.com', '', ''],
  ['Orange', 'imap.orange.fr', '', 'orange.fr wanadoo.fr'],
  ['Free', 'imap.free.fr', '', 'free.fr'],
  ['SFR', 'imap.sfr.fr', '', 'sfr.fr neuf.fr'],
  ['La Poste', 'imap.laposte.net', '', 'laposte.net'],
  ['Libero Mail', 'imapmail.libero.it', '', 'libero.it inwind.it iol.it blu.it'],
  ['Virgilio Mail', 'in.virgilio.it', '', 'virgilio.it'],
  ['Seznam', 'imap.seznam.cz', 'switched on', 'seznam.cz email.cz post.cz'],
  ['WP Poczta', 'imap.wp.pl', 'switched on', 'wp.pl'],
  ['o2', 'poczta.o2.pl', 'switched on', 'o2.pl'],
  ['Onet', 'imap.poczta.onet.pl', 'switched on', 'onet.pl op.pl'],
  ['Interia', 'poczta.interia.pl', 'switched on', 'interia.pl'],
  ['Yandex Mail', 'imap.yandex.com', 'app password', 'yandex.com yandex.ru ya.ru yandex.by yandex.kz'],
  ['Mail.ru', 'imap.mail.ru', 'app password', 'mail.ru inbox.ru list.ru bk.ru internet.ru'],
  ['Rambler', 'imap.rambler.ru', 'switched on', 'rambler.ru'],
  ['UKR.NET', 'imap.ukr.net', 'app password', 'ukr.net'],
  ['BT Email', 'mail.btinternet.com', '', 'btinternet.com'],
  ['Virgin Media', 'imap.virginmedia.com', '', 'virginmedia.com'],
  ['Telenet', 'imap.telenet.be', '', 'telenet.be'],
  ['Proximus', 'imap.proximus.be', '', 'proximus.be skynet.be'],
  ['Ziggo', 'imap.ziggo.nl', '', 'ziggo.nl'],
  ['KPN', 'imap.kpnmail.nl', '', 'kpnmail.nl'],
  ['Xfinity', 'imap.comcast.net', 'switched on', 'comcast.net'],
  ['Telstra', 'imap.telstra.com', '', 'bigpond.com telstra.com'],
  ['Xtra Mail', 'imap.xtra.co.nz', '', 'xtra.co.nz'],
  ['QQ Mail', 'imap.qq.com', 'app password', 'qq.com foxmail.com'],
  ['NetEase Mail', 'imap.163.com', 'app password', '163.com'],
  ['NetEase Mail', 'imap.126.com', 'app password', '126.com'],
  ['NAVER Mail', 'imap.naver.com', 'switched on', 'naver.com'],
  ['Daum Mail', 'imap.daum.net', 'switched on', 'daum.net hanmail.net'],
  ['Proton Mail', '', 'bridge', 'proton.me protonmail.com protonmail.ch pm.me'],
]

const OAUTH: Readonly<Record<string, ProviderName>> = { Gmail: 'gmail', Outlook: 'microsoft' }

const BY_DOMAIN: ReadonlyMap<string, KnownServer> = new Map(
  SERVERS.flatMap(([name, host, demand, domains]) =>
    domains
      .split(' ')
      .filter((domain) => domain !== '')
      .map((domain): [string, KnownServer] => [
        domain,
        { name, host: host || undefined, port: PORT, demand: demand || undefined },
      ]),
  ),
)

/** Every IMAP host in the table, for a list of proposals. */
export const KNOWN_HOSTS: readonly string[] = [...new Set(SERVERS.map(([, host]) => host))]
  .filter((host) => host !== '')
  .sort()

/** Host by domain, for the page. */
export const HOST_BY_DOMAIN: Readonly<Record<string, string>> = Object.fromEntries(
  [...BY_DOMAIN].flatMap(([domain, server]) => (server.host === undefined ? [] : [[domain, server.host]])),
)

/** The server behind an address, when its domain is known. Nothing is looked up anywhere. */
export function knownServer(email: string): KnownServer | undefined {
  return BY_DOMAIN.get(domainOf(email))
}

/** Which provider an address belongs to, as far as its domain tells. */
export function detectedProvider(email: string): ProviderName {
  return OAUTH[knownServer(email)?.name ?? ''] ?? 'imap'
}

/** What to tell people of this provider before they sign in. */
export function demandText(server: KnownServer): string | undefined {
  switch (server.demand) {
    case 'app password':
      return `${server.name} asks for an app password here, not your usual one. Make one in the security settings of your ${server.name} account.`
    case 'switched on':
      return `${server.name} lets mail programs in only after access by IMAP was switched on in its mail settings.`
    case 'mail password':
      return `${server.name} asks for the separate password for mail programs, which you set in its customer centre.`
    case 'bridge':
      return `${server.name} can be reached by IMAP only through its Bridge app, on a server that you run yourself.`
    case 'no passwords':
      return `${server.name} no longer accepts passwords from mail programs, so signing in here will most likely be refused.`
    case undefined:
      return undefined
  }
}

function domainOf(email: string): string {
  return email
    .slice(email.lastIndexOf('@') + 1)
    .trim()
    .toLowerCase()
}

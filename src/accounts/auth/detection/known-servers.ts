import { MAIL_PORTS } from '../../../platform/formats/mail-ports.ts'
import type { ProviderName } from '../../../providers/contract/index.ts'
import type { TextKey, Translate } from '../../../ui/hosted/index.ts'
import { guideFor } from './guides.ts'

/** A step that a provider requires of its users before another mail client can sign in. */
type Requirement = 'app password' | 'imap enabled' | 'mail password' | 'bridge' | 'no passwords'

interface KnownServer {
  /** Display name. */
  name: string
  /** Undefined when the provider offers no public IMAP server. */
  host: string | undefined
  port: number
  requirement: Requirement | undefined
}

/** Name, IMAP host, requirement and email domains, from the providers' public help pages. */
const SERVERS: readonly (readonly [name: string, host: string, requirement: Requirement | '', domains: string])[] = [
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
  ['Yahoo! JAPAN', 'imap.mail.yahoo.co.jp', 'imap enabled', 'yahoo.co.jp'],
  ['AOL Mail', 'imap.aol.com', 'app password', 'aol.com aim.com aol.co.uk aol.de aol.fr verizon.net'],
  ['AT&T Mail', 'imap.mail.att.net', 'app password', 'att.net sbcglobal.net bellsouth.net'],
  ['GMX', 'imap.gmx.net', 'imap enabled', 'gmx.de gmx.net gmx.at gmx.ch'],
  ['GMX', 'imap.gmx.com', 'imap enabled', 'gmx.com gmx.us gmx.co.uk gmx.fr gmx.es'],
  ['WEB.DE', 'imap.web.de', 'imap enabled', 'web.de'],
  ['mail.com', 'imap.mail.com', 'imap enabled', 'mail.com email.com usa.com'],
  ['Telekom Mail', 'secureimap.t-online.de', 'mail password', 't-online.de magenta.de'],
  ['freenet', 'mx.freenet.de', 'imap enabled', 'freenet.de'],
  ['Fastmail', 'imap.fastmail.com', 'app password', 'fastmail.com fastmail.fm messagingengine.com'],
  ['mailbox.org', 'imap.mailbox.org', '', 'mailbox.org'],
  ['Posteo', 'posteo.de', '', 'posteo.de posteo.net posteo.org posteo.eu posteo.at posteo.ch posteo.us'],
  ['Mailfence', 'imap.mailfence.com', '', 'mailfence.com'],
  ['StartMail', 'imap.startmail.com', 'app password', 'startmail.com'],
  ['Runbox', 'mail.runbox.com', '', 'runbox.com'],
  ['Disroot', 'disroot.org', '', 'disroot.org'],
  ['Riseup', 'mail.riseup.net', '', 'riseup.net'],
  ['Zoho Mail', 'imap.zoho.com', 'imap enabled', 'zoho.com zohomail.com'],
  ['Zoho Mail', 'imap.zoho.eu', 'imap enabled', 'zohomail.eu'],
  ['Zoho Mail', 'imap.zoho.in', 'imap enabled', 'zohomail.in'],
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
  ['Seznam', 'imap.seznam.cz', 'imap enabled', 'seznam.cz email.cz post.cz'],
  ['WP Poczta', 'imap.wp.pl', 'imap enabled', 'wp.pl'],
  ['o2', 'poczta.o2.pl', 'imap enabled', 'o2.pl'],
  ['Onet', 'imap.poczta.onet.pl', 'imap enabled', 'onet.pl op.pl'],
  ['Interia', 'poczta.interia.pl', 'imap enabled', 'interia.pl'],
  ['Yandex Mail', 'imap.yandex.com', 'app password', 'yandex.com yandex.ru ya.ru yandex.by yandex.kz'],
  ['Mail.ru', 'imap.mail.ru', 'app password', 'mail.ru inbox.ru list.ru bk.ru internet.ru'],
  ['Rambler', 'imap.rambler.ru', 'imap enabled', 'rambler.ru'],
  ['UKR.NET', 'imap.ukr.net', 'app password', 'ukr.net'],
  ['BT Email', 'mail.btinternet.com', '', 'btinternet.com'],
  ['Virgin Media', 'imap.virginmedia.com', '', 'virginmedia.com'],
  ['Telenet', 'imap.telenet.be', '', 'telenet.be'],
  ['Proximus', 'imap.proximus.be', '', 'proximus.be skynet.be'],
  ['Ziggo', 'imap.ziggo.nl', '', 'ziggo.nl'],
  ['KPN', 'imap.kpnmail.nl', '', 'kpnmail.nl'],
  ['Xfinity', 'imap.comcast.net', 'imap enabled', 'comcast.net'],
  ['Telstra', 'imap.telstra.com', '', 'bigpond.com telstra.com'],
  ['Xtra Mail', 'imap.xtra.co.nz', '', 'xtra.co.nz'],
  ['QQ Mail', 'imap.qq.com', 'app password', 'qq.com foxmail.com'],
  ['NetEase Mail', 'imap.163.com', 'app password', '163.com'],
  ['NetEase Mail', 'imap.126.com', 'app password', '126.com'],
  ['NAVER Mail', 'imap.naver.com', 'imap enabled', 'naver.com'],
  ['Daum Mail', 'imap.daum.net', 'imap enabled', 'daum.net hanmail.net'],
  ['Proton Mail', '', 'bridge', 'proton.me protonmail.com protonmail.ch pm.me'],
]

const OAUTH: Readonly<Record<string, ProviderName>> = { Gmail: 'gmail', Outlook: 'microsoft' }

const BY_DOMAIN: ReadonlyMap<string, KnownServer> = new Map(
  SERVERS.flatMap(([name, host, requirement, domains]) =>
    domains
      .split(' ')
      .filter((domain) => domain !== '')
      .map((domain): [string, KnownServer] => [
        domain,
        { name, host: host || undefined, port: MAIL_PORTS.imaps, requirement: requirement || undefined },
      ]),
  ),
)

const BY_HOST: ReadonlyMap<string, KnownServer> = new Map(
  SERVERS.filter(([, host]) => host !== '').map(([name, host, requirement]) => [
    host,
    { name, host, port: MAIL_PORTS.imaps, requirement: requirement || undefined },
  ]),
)

/** Every IMAP host in the table, as suggestions for the form. */
export const KNOWN_HOSTS: readonly string[] = [...new Set(SERVERS.map(([, host]) => host))]
  .filter((host) => host !== '')
  .sort()

/** The server of an address whose domain is in the table. Makes no network request. */
export function knownServer(email: string): KnownServer | undefined {
  return BY_DOMAIN.get(domainOf(email))
}

/** The provider of an address, judged by its domain alone. */
export function providerOfDomain(email: string): ProviderName {
  return OAUTH[knownServer(email)?.name ?? ''] ?? 'imap'
}

/** The provider that runs this server, for addresses with a domain of their own. */
export function serverAt(host: string): KnownServer | undefined {
  return BY_HOST.get(host.trim().toLowerCase())
}

/** Shown to users of this provider before they sign in. Undefined also where a page of its own explains it. */
export function requirementText(t: Translate, { name: provider, requirement, host }: KnownServer): string | undefined {
  if (requirement === 'app password' && host !== undefined && guideFor(host) !== undefined) {
    return t('requirement.appPasswordHere', { provider })
  }
  const text = requirement && REQUIREMENT_TEXTS[requirement]
  return text && t(text, { provider })
}

const REQUIREMENT_TEXTS: Readonly<Partial<Record<Requirement, TextKey>>> = {
  'app password': 'requirement.appPassword',
  'imap enabled': 'requirement.imapEnabled',
  'mail password': 'requirement.mailPassword',
}

export function domainOf(email: string): string {
  return email
    .slice(email.lastIndexOf('@') + 1)
    .trim()
    .toLowerCase()
}

import { MAIL_PORTS } from '../../platform/formats/mail-ports.ts'

/** What a vendor's members are, so that OAUTH_PROVIDERS only adds the client. */
interface Preset {
  label: string
  authorizationUrl: string
  tokenUrl: string
  revocationUrl?: string
  userinfoUrl?: string
  scopes: readonly string[]
  contactScopes?: readonly string[]
  refreshScope?: string
  authorizationParameters?: Readonly<Record<string, string>>
  mxHosts?: readonly string[]
  imap: PresetServer
  smtp: PresetServer
  caldavUrl?: string
  carddavUrl?: string
}

interface PresetServer {
  host: string
  port: number
  secure: boolean
}

const imaps = (host: string): PresetServer => ({ host, port: MAIL_PORTS.imaps, secure: true })
const submissions = (host: string): PresetServer => ({ host, port: MAIL_PORTS.submissions, secure: true })
const submission = (host: string): PresetServer => ({ host, port: MAIL_PORTS.submission, secure: false })

const MICROSOFT = 'https://login.microsoftonline.com/common/oauth2/v2.0'
const FASTMAIL = 'https://www.fastmail.com/dev/protocol-'

/**
 * From the descriptions of the vendors and from what Thunderbird uses. The domains of consumer mailboxes are those of the table of known
 * servers, by the IMAP host.
 */
export const PRESETS: Readonly<Record<string, Preset>> = {
  yahoo: {
    label: 'Yahoo',
    authorizationUrl: 'https://api.login.yahoo.com/oauth2/request_auth',
    tokenUrl: 'https://api.login.yahoo.com/oauth2/get_token',
    scopes: ['mail-w'],
    imap: imaps('imap.mail.yahoo.com'),
    smtp: submissions('smtp.mail.yahoo.com'),
  },
  aol: {
    label: 'AOL',
    authorizationUrl: 'https://api.login.aol.com/oauth2/request_auth',
    tokenUrl: 'https://api.login.aol.com/oauth2/get_token',
    scopes: ['mail-w'],
    imap: imaps('imap.aol.com'),
    smtp: submissions('smtp.aol.com'),
  },
  fastmail: {
    label: 'Fastmail',
    authorizationUrl: 'https://api.fastmail.com/oauth/authorize',
    tokenUrl: 'https://api.fastmail.com/oauth/refresh',
    scopes: [`${FASTMAIL}imap`, `${FASTMAIL}smtp`, `${FASTMAIL}caldav`],
    contactScopes: [`${FASTMAIL}carddav`],
    mxHosts: ['messagingengine.com'],
    imap: imaps('imap.fastmail.com'),
    smtp: submissions('smtp.fastmail.com'),
    caldavUrl: 'https://caldav.fastmail.com/',
    carddavUrl: 'https://carddav.fastmail.com/',
  },
  yandex: {
    label: 'Yandex',
    authorizationUrl: 'https://oauth.yandex.com/authorize',
    tokenUrl: 'https://oauth.yandex.com/token',
    scopes: ['mail:imap_full', 'mail:smtp'],
    mxHosts: ['mx.yandex.net', 'mx.yandex.ru'],
    imap: imaps('imap.yandex.com'),
    smtp: submissions('smtp.yandex.com'),
  },
  mailru: {
    label: 'Mail.ru',
    authorizationUrl: 'https://o2.mail.ru/login',
    tokenUrl: 'https://o2.mail.ru/token',
    scopes: ['mail.imap'],
    mxHosts: ['emx.mail.ru'],
    imap: imaps('imap.mail.ru'),
    smtp: submissions('smtp.mail.ru'),
  },
  zoho: {
    label: 'Zoho',
    authorizationUrl: 'https://accounts.zoho.com/oauth/v2/auth',
    tokenUrl: 'https://accounts.zoho.com/oauth/v2/token',
    revocationUrl: 'https://accounts.zoho.com/oauth/v2/token/revoke',
    // Zoho describes no scope for IMAP; the file names those of the operator's agreement with it.
    scopes: [],
    authorizationParameters: { access_type: 'offline', prompt: 'consent' },
    mxHosts: ['mx.zoho.com', 'mx2.zoho.com', 'mx3.zoho.com'],
    imap: imaps('imap.zoho.com'),
    smtp: submissions('smtp.zoho.com'),
  },
  outlook: {
    label: 'Microsoft',
    authorizationUrl: `${MICROSOFT}/authorize`,
    tokenUrl: `${MICROSOFT}/token`,
    scopes: [
      'openid',
      'email',
      'profile',
      'offline_access',
      'https://outlook.office.com/IMAP.AccessAsUser.All',
      'https://outlook.office.com/SMTP.Send',
    ],
    refreshScope: 'offline_access',
    mxHosts: ['protection.outlook.com', 'mx.microsoft'],
    imap: imaps('outlook.office365.com'),
    smtp: submission('smtp.office365.com'),
  },
  google: {
    label: 'Google',
    authorizationUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
    tokenUrl: 'https://oauth2.googleapis.com/token',
    revocationUrl: 'https://oauth2.googleapis.com/revoke',
    userinfoUrl: 'https://openidconnect.googleapis.com/v1/userinfo',
    scopes: ['openid', 'email', 'https://mail.google.com/'],
    authorizationParameters: { access_type: 'offline' },
    mxHosts: ['google.com', 'googlemail.com'],
    imap: imaps('imap.gmail.com'),
    smtp: submissions('smtp.gmail.com'),
  },
}

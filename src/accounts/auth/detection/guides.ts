import type { Guide, GuideStep } from '../../../ui/hosted/index.ts'

const PASTE: GuideStep = { text: 'guide.paste' }
const open = (link: string): GuideStep => ({ text: 'guide.open', link })
const twoFactor = (link: string): GuideStep => ({ text: 'guide.twoFactor', link })

const appPassword = (...steps: GuideStep[]): Guide => ({ title: 'guide.appPassword', steps })
const imapAccess = (...steps: GuideStep[]): Guide => ({ title: 'guide.imap', steps })

/** Yahoo and AOL are one company, with one account page. */
const yahoo = (site: string) =>
  appPassword(
    open(`https://login.${site}/account/security`),
    { text: 'guide.menu', menu: [{ key: 'menu.yahooCreate' }] },
    { text: 'guide.name', menu: [{ key: 'menu.yahooGenerate' }] },
    PASTE,
  )

const zoho = (domain: string) =>
  imapAccess(
    open(`https://mail.zoho.${domain}`),
    { text: 'guide.menu', menu: ['Settings', 'Mail Accounts', 'IMAP'] },
    { text: 'guide.check', menu: ['IMAP Access'] },
    twoFactor(`https://accounts.zoho.${domain}/home#security/app_password`),
  )

/** The menus of these two are in German only. */
const gmxGerman = (site: string, help: string) =>
  imapAccess(
    open(`https://${site}`),
    { text: 'guide.menu', menu: ['E-Mail', 'Einstellungen', 'POP3/IMAP Abruf'] },
    { text: 'guide.check', menu: ['POP3 und IMAP Zugriff erlauben'] },
    twoFactor(`https://${help}/sicherheit/2fa/anwendungsspezifisches-passwort.html`),
  )

/** By IMAP host, from the providers' help pages. A provider that changes its menus changes its entry here. */
const GUIDES: Readonly<Record<string, Guide>> = {
  'imap.gmail.com': appPassword(
    {
      text: 'guide.verification',
      menu: [{ key: 'menu.googleVerification' }],
      link: 'https://myaccount.google.com/signinoptions/two-step-verification',
    },
    open('https://myaccount.google.com/apppasswords'),
    { text: 'guide.name', menu: [{ key: 'menu.googleCreate' }] },
    PASTE,
  ),
  'imap.mail.me.com': appPassword(
    open('https://account.apple.com'),
    { text: 'guide.menu', menu: [{ key: 'menu.appleSecurity' }, { key: 'menu.applePasswords' }] },
    { text: 'guide.menu', menu: [{ key: 'menu.appleGenerate' }] },
    PASTE,
  ),
  'imap.mail.yahoo.com': yahoo('yahoo.com'),
  'imap.aol.com': yahoo('aol.com'),
  'imap.fastmail.com': appPassword(
    open('https://app.fastmail.com/settings/security'),
    { text: 'guide.menu', menu: ['Manage app passwords and access', 'New app password'] },
    { text: 'guide.menu', menu: ['Mail', 'Generate password'] },
    PASTE,
  ),
  'imap.zoho.com': zoho('com'),
  'imap.zoho.eu': zoho('eu'),
  'imap.zoho.in': zoho('in'),
  'imap.gmx.net': gmxGerman('www.gmx.net', 'hilfe.gmx.net'),
  'imap.web.de': gmxGerman('web.de', 'hilfe.web.de'),
  'imap.gmx.com': imapAccess(
    open('https://www.gmx.com'),
    { text: 'guide.menu', menu: ['Email', 'Settings', 'POP3 & IMAP'] },
    { text: 'guide.check', menu: ['Enable access to this account via POP3 and IMAP'] },
    twoFactor('https://support.gmx.com/security/2fa/application-specific-passwords.html'),
  ),
  'imap.yandex.com': appPassword(
    open('https://mail.yandex.com/#setup/client'),
    { text: 'guide.check', menu: ['From the imap.yandex.com server via IMAP'] },
    open('https://id.yandex.com/security/app-passwords'),
    { text: 'guide.menu', menu: ['Mail'] },
    PASTE,
  ),
  'imap.qq.com': appPassword(
    open('https://mail.qq.com'),
    { text: 'guide.menu', menu: ['设置', '账号'] },
    { text: 'guide.check', menu: ['POP3/IMAP/SMTP服务'] },
    { text: 'guide.code', menu: ['授权码'] },
    PASTE,
  ),
}

export function guideFor(host: string): Guide | undefined {
  return Object.hasOwn(GUIDES, host) ? GUIDES[host] : undefined
}

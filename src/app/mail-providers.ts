import { withCalendarRefusals } from '../calendars/index.ts'
import type { Config } from '../config/index.ts'
import type { Log } from '../platform/log/index.ts'
import type { AddressGuard, DnsRecords } from '../platform/net/index.ts'
import type { Outbound } from '../platform/outbound/index.ts'
import type { Clock } from '../platform/time/clock.ts'
import { caldavProvider } from '../providers/caldav/index.ts'
import { carddavProvider } from '../providers/carddav/index.ts'
import type {
  CalendarProvider,
  ContactsProvider,
  MailProvider,
  ProviderName,
  SendProvider,
} from '../providers/contract/index.ts'
import { gmailProvider } from '../providers/gmail/index.ts'
import { type ImapLimits, imapOnThread } from '../providers/imap/index.ts'
import { microsoftProvider } from '../providers/microsoft/index.ts'
import { smtpProvider } from '../providers/smtp/index.ts'
import type { SignIn } from './sign-in.ts'

interface MailProvidersDeps {
  config: Pick<
    Config,
    | 'googleApiUrl'
    | 'googleTokenUrl'
    | 'googleScopes'
    | 'contactsEnabled'
    | 'googlePeopleUrl'
    | 'microsoftGraphUrl'
    | 'microsoftLoginUrl'
    | 'gmailQuota'
    | 'gmailUnitsPerMinute'
  >
  guard: AddressGuard
  outbound: Outbound
  records: DnsRecords
  clock: Clock
  log: Log
  logins: SignIn
  imapLimits?: Partial<ImapLimits>
  /** Called with the quota units of each request to Gmail. */
  onGmailUnits?(units: number): void
  /** Used in place of the mail side of every provider. */
  replacement?: MailProvider
}

/** Makes the mail part of every provider. Includes providers without client settings, so that their accounts report why they fail. */
export function mailProviders(deps: MailProvidersDeps) {
  const { config, guard, outbound, records, clock, log, logins, imapLimits, onGmailUnits, replacement } = deps
  const imap = imapOnThread({ guard, log, ...(imapLimits && { limits: imapLimits }) })
  const gmail = gmailProvider({
    apiUrl: config.googleApiUrl,
    peopleUrl: config.googlePeopleUrl,
    outbound,
    tenant: {
      tokenUrl: config.googleTokenUrl,
      withContacts: config.contactsEnabled,
      ...(config.googleScopes && { scopes: config.googleScopes }),
    },
    clock,
    quota: {
      set: config.gmailQuota,
      ...(config.gmailUnitsPerMinute > 0 && { unitsPerMinute: config.gmailUnitsPerMinute }),
    },
    ...(onGmailUnits !== undefined && { onUnits: onGmailUnits }),
    ...(logins.gmail !== undefined && { login: logins.gmail }),
  })
  const microsoft = microsoftProvider({
    graphUrl: config.microsoftGraphUrl,
    loginUrl: config.microsoftLoginUrl,
    clock,
    outbound,
  })
  const all: Readonly<Record<ProviderName, MailProvider>> = {
    gmail: gmail.mail,
    microsoft: microsoft.mail,
    imap: imap.mail,
  }
  const smtp = smtpProvider({ guard, log, copies: imap.sentCopies })
  const sending: Readonly<Record<ProviderName, SendProvider>> = {
    gmail: gmail.sending,
    microsoft: microsoft.sending,
    imap: smtp,
  }
  const caldav = caldavProvider({ outbound, records, clock, log })
  const calendars: Readonly<Record<ProviderName, CalendarProvider>> = {
    gmail: withCalendarRefusals(gmail.calendar),
    microsoft: withCalendarRefusals(microsoft.calendar),
    imap: withCalendarRefusals(caldav),
  }
  const contacts: Readonly<Record<ProviderName, ContactsProvider>> = {
    gmail: gmail.contacts,
    microsoft: microsoft.contacts,
    imap: carddavProvider({ outbound, records, clock, log }),
  }
  return {
    imap: imap.mail,
    /** Prepares for the first login of a mail server. */
    startImap: imap.start,
    further: { smtp, caldav },
    tenants: { gmail: gmail.tenant, microsoft: microsoft.tenant },
    push: { gmail: gmail.push, microsoft: microsoft.push },
    mail: (provider: ProviderName) => replacement ?? all[provider],
    sending: (provider: ProviderName) => sending[provider],
    calendars: (provider: ProviderName) => calendars[provider],
    contacts: (provider: ProviderName) => contacts[provider],
    async closeConnections(accountId: string): Promise<void> {
      smtp.closeConnections(accountId)
      await Promise.all(Object.values(all).map((mail) => mail.closeConnections(accountId)))
    },
    /** Closes everything. */
    async close(): Promise<void> {
      smtp.closeConnections()
      const others = [gmail.mail, microsoft.mail]
      await Promise.all([imap.close(), ...others.map((mail) => mail.closeConnections()), caldav.close()])
    },
  }
}

import * as kinds from '../kinds.ts'
import { setting } from '../setting.ts'

const DAY_LIMIT = 36_500

/** Settings of the product itself: hosted pages, sync, webhooks, retention. */
export const productSettings = {
  authScreenName: setting({
    env: 'AUTH_SCREEN_NAME',
    path: 'service.authScreen.name',
    kind: kinds.text,
    fallback: undefined,
    about: 'Name of your product on the hosted pages. Default: the host of the redirect URI.',
  }),
  authScreenLogoUrl: setting({
    env: 'AUTH_SCREEN_LOGO_URL',
    path: 'service.authScreen.logoUrl',
    kind: kinds.url('https', 'http'),
    fallback: undefined,
    about: 'URL of the logo on the hosted pages.',
  }),
  authScreenLogoDarkUrl: setting({
    env: 'AUTH_SCREEN_LOGO_DARK_URL',
    path: 'service.authScreen.logoDarkUrl',
    kind: kinds.url('https', 'http'),
    fallback: undefined,
    about: 'URL of the logo for dark mode. Default: AUTH_SCREEN_LOGO_URL.',
  }),
  authScreenColor: setting({
    env: 'AUTH_SCREEN_COLOR',
    path: 'service.authScreen.color',
    kind: kinds.color,
    fallback: undefined,
    about: 'Colour of buttons on the hosted pages.',
  }),
  authScreenSupportUrl: setting({
    env: 'AUTH_SCREEN_SUPPORT_URL',
    path: 'service.authScreen.supportUrl',
    kind: kinds.url('https', 'http'),
    fallback: undefined,
    about: 'Support page, linked from the hosted pages.',
  }),
  authScreenPrivacyUrl: setting({
    env: 'AUTH_SCREEN_PRIVACY_URL',
    path: 'service.authScreen.privacyUrl',
    kind: kinds.url('https', 'http'),
    fallback: undefined,
    about: 'Your privacy policy, linked from the hosted pages.',
  }),

  syncInitialMessages: setting({
    env: 'SYNC_INITIAL_MESSAGES',
    path: 'sync.initialMessages',
    kind: kinds.integer(0, 1_000_000),
    fallback: 500,
    about: 'Number of newest messages per folder in the first sync of an account.',
  }),
  syncFolders: setting({
    env: 'SYNC_FOLDERS',
    path: 'sync.folders',
    kind: kinds.list(kinds.text),
    fallback: [],
    about:
      "IMAP folders to sync in addition to the account's folder, Sent, Drafts, Archive, Junk and Trash. `own` syncs the account's folder only, and the others of the list.",
  }),
  syncStoreBodies: setting({
    env: 'SYNC_STORE_BODIES',
    path: 'sync.storeBodies',
    kind: kinds.boolean,
    fallback: false,
    about: 'Store message bodies in the database instead of fetching them on each read.',
  }),
  syncCalendarWindow: setting({
    env: 'SYNC_CALENDAR_WINDOW',
    path: 'sync.calendarWindow',
    kind: kinds.months,
    fallback: [1, 12],
    about:
      'Months before and after today whose calendar events are stored. Lists of other times are read from the provider.',
  }),
  contactsEnabled: setting({
    env: 'CONTACTS_ENABLED',
    path: 'contacts.enabled',
    kind: kinds.boolean,
    fallback: false,
    about:
      'Sync the contacts of accounts: from Google and Microsoft, whose users are then asked for the scopes, and over CardDAV.',
  }),
  outboxMessagesPerMinute: setting({
    env: 'OUTBOX_MESSAGES_PER_MINUTE',
    path: 'outbox.messagesPerMinute',
    kind: kinds.integer(0, 60_000),
    fallback: 0,
    about: 'Messages that one account may send in a minute. 0: as many as its provider accepts.',
  }),
  outboxCopyWaitSeconds: setting({
    env: 'OUTBOX_COPY_WAIT_SECONDS',
    path: 'outbox.copyWaitSeconds',
    kind: kinds.integer(0, 600),
    fallback: 5,
    about:
      'How long the first message of an imap account waits for a copy that its mail server puts into Sent, before the service saves one.',
  }),
  schedulerMailPerExperience: setting({
    env: 'SCHEDULER_MAIL_PER_EXPERIENCE',
    path: 'scheduler.mail.perExperience',
    kind: kinds.integer(0, 1_000_000),
    fallback: 100,
    about:
      'Messages that bookings of one experience may cause to addresses that are not verified, in 24 hours. Requests beyond it get 429.',
  }),
  schedulerMailPerClient: setting({
    env: 'SCHEDULER_MAIL_PER_CLIENT',
    path: 'scheduler.mail.perClient',
    kind: kinds.integer(0, 1_000_000),
    fallback: 10,
    about: 'The same for one client: an IPv4 address, or a /64 of IPv6.',
  }),
  schedulerMailPerAccount: setting({
    env: 'SCHEDULER_MAIL_PER_ACCOUNT',
    path: 'scheduler.mail.perAccount',
    kind: kinds.integer(0, 1_000_000),
    fallback: 200,
    about: 'The same for the account of one host, over all its experiences.',
  }),
  schedulerMailPerAddress: setting({
    env: 'SCHEDULER_MAIL_PER_ADDRESS',
    path: 'scheduler.mail.perAddress',
    kind: kinds.integer(0, 1_000_000),
    fallback: 5,
    about:
      'The same for one mailbox that gets the messages, over all experiences. Codes count too, until they are entered.',
  }),
  webhookIncludeBodies: setting({
    env: 'WEBHOOKS_INCLUDE_BODIES',
    path: 'webhooks.includeBodies',
    kind: kinds.boolean,
    fallback: false,
    about: 'Include message bodies in events.',
  }),
  retentionEventsDays: setting({
    env: 'RETENTION_EVENTS_DAYS',
    path: 'retention.eventsDays',
    kind: kinds.integer(1, DAY_LIMIT),
    fallback: 30,
    about: 'Days after which events are deleted.',
  }),
  retentionDeliveriesDays: setting({
    env: 'RETENTION_DELIVERIES_DAYS',
    path: 'retention.deliveriesDays',
    kind: kinds.integer(1, DAY_LIMIT),
    fallback: 30,
    about: 'Days after which webhook deliveries are deleted.',
  }),
  retentionTrackingDays: setting({
    env: 'RETENTION_TRACKING_DAYS',
    path: 'retention.trackingDays',
    kind: kinds.integer(1, DAY_LIMIT),
    fallback: 180,
    about: 'Days after which the opens, clicks and replies of a sent message are deleted.',
  }),
  trackingBaseUrl: setting({
    env: 'TRACKING_BASE_URL',
    path: 'tracking.baseUrl',
    kind: kinds.url('https', 'http'),
    fallback: undefined,
    about:
      'Address of the pixel and the links of tracked messages, on a host that reaches this service. Default: PUBLIC_URL.',
  }),
  trackingEnabled: setting({
    env: 'TRACKING_ENABLED',
    path: 'tracking.enabled',
    kind: kinds.boolean,
    fallback: false,
    about: 'Track the opens and clicks of HTML messages that are sent without `tracking` in the request.',
  }),
  retentionSessionsDays: setting({
    env: 'RETENTION_SESSIONS_DAYS',
    path: 'retention.sessionsDays',
    kind: kinds.integer(1, DAY_LIMIT),
    fallback: 7,
    about: 'Days after which ended authentication sessions are deleted.',
  }),
  retentionAuditDays: setting({
    env: 'RETENTION_AUDIT_DAYS',
    path: 'retention.auditDays',
    kind: kinds.integer(1, DAY_LIMIT),
    fallback: 365,
    about: 'Days after which audit log entries are deleted.',
  }),
} as const

// Generated from the OpenAPI document by `npm run generate`.

/** The event types of the API, each with what its events report. */
export const EVENT_TYPES: Readonly<Record<string, string>> = {
  "account.connected": "A mailbox was connected. Its first sync starts now.",
  "account.updated": "The credentials, `customUserId` or `watch` of an account changed.",
  "account.auth_error": "The provider rejected the credentials. The user must connect the mailbox again.",
  "account.sync_stalled": "The mailbox is not synced at the moment: several checks in a row failed, or none succeeded for three poll intervals. The service goes on trying.",
  "account.recovered": "The mailbox syncs again after `account.auth_error` or `account.sync_stalled`.",
  "account.paused": "An account was paused.",
  "account.resumed": "A paused account was resumed.",
  "account.deleted": "An account was deleted and its data is being erased. It is the last event of the account.",
  "message.received": "A new message arrived in any folder except Sent, Drafts, Trash and Junk.",
  "message.sent": "A message was added to Sent, by this API or another client.",
  "message.updated": "A message was read, starred, labelled or moved.",
  "message.deleted": "A message was deleted from the mailbox. `data` holds its last known state. When another program deletes a message of an IMAP mailbox, the event follows ten seconds later, in case the program moves it.",
  "draft.created": "A draft was added to Drafts, by this API or another client.",
  "draft.updated": "A draft was changed.",
  "draft.deleted": "A draft was deleted or sent. `data` holds its last known state.",
  "mailbox.changed": "The messages of a folder changed. Sent once per folder and sync.",
  "message.send_failed": "Sending a message failed or its result is unknown. The service does not retry it.",
  "message.bounced": "A mail server reported that it could not deliver a sent message.",
  "message.opened": "A recipient opened a tracked message: its pixel was loaded.",
  "message.link_clicked": "A recipient clicked a link in a tracked message.",
  "message.replied": "Somebody replied to a sent message.",
  "sync.backfill_started": "The historical sync of an account started or restarted.",
  "sync.backfill_progress": "The historical sync made progress. Sent from time to time, not for every batch.",
  "sync.backfill_completed": "The historical sync has fetched every message in its time range. lastError names folders that could not be read.",
  "sync.backfill_failed": "The historical sync failed. Messages fetched so far are kept, and it can be resumed.",
  "calendar.event.created": "An event was added to a calendar. Of a series, its instances have no events of their own.",
  "calendar.event.updated": "A calendar event or one instance of a series was moved or changed, or an attendee responded.",
  "calendar.event.deleted": "A calendar event, or one instance of a series, was deleted. `data` holds its last known state, with status cancelled.",
  "contact.created": "A contact was added to an address book.",
  "contact.updated": "A contact was changed, joined a group or left one.",
  "contact.deleted": "A contact was deleted, or its address book was. `data` holds its last known state.",
  "booking.created": "A guest booked a slot. The slot is blocked but not confirmed yet.",
  "booking.confirmed": "A booking was confirmed.",
  "booking.rejected": "A booking failed: the application rejected it or did not respond, or a calendar did not take it.",
  "booking.rescheduled": "A booking was moved to another slot.",
  "booking.cancelled": "A booking was cancelled. Its slot is free again.",
  "booking.mail_limited": "Requests for bookings or codes are refused, because too many messages would go to addresses that nobody has verified. At most once in 24 hours per experience.",
  "booking.reminder": "A booking starts soon.",
  "webhook.test": "A test of an endpoint. Sent only to that endpoint, regardless of its subscriptions.",
  "webhook.endpoint_disabled": "The service disabled an endpoint because of its response. Sent to the other endpoints."
}

export type List<Name extends string, Item> = Record<Name, Item[]> & { pagination: Pagination }

export type Account = {
  id: string
  email: string
  provider: "gmail" | "microsoft" | "imap"
  status: "connecting" | "syncing" | "connected" | "auth_error" | "error" | "paused"
  customUserId: string | null
  paused: boolean
  statusReason: string | null
  watch: boolean
  folders: ((string)[] | null)
  lastSyncAt: string | null
  tokens: {
    expiresAt: string | null
    scopes: (string)[]
    hasRefreshToken: boolean
  }
  sharedWith: string | null
  connectionId: string | null
  createdAt: string
  updatedAt: string
}

export type AccountAuthErrorEvent = (EventHead) & {
  type: "account.auth_error"
  data: AccountEventData
}

export type AccountAuthErrorWebhook = (WebhookEnvelopeHead) & {
  type: "account.auth_error"
  data: AccountEventData
}

export type AccountConnectedEvent = (EventHead) & {
  type: "account.connected"
  data: AccountEventData
}

export type AccountConnectedWebhook = (WebhookEnvelopeHead) & {
  type: "account.connected"
  data: AccountEventData
}

export type AccountDeletedData = {
  id: string
  provider: "gmail" | "microsoft" | "imap"
  customUserId: string | null
}

export type AccountDeletedEvent = (EventHead) & {
  type: "account.deleted"
  data: AccountDeletedData
}

export type AccountDeletedWebhook = (WebhookEnvelopeHead) & {
  type: "account.deleted"
  data: AccountDeletedData
}

export type AccountEventData = {
  id: string
  email: string
  provider: "gmail" | "microsoft" | "imap"
  status: "connecting" | "syncing" | "connected" | "auth_error" | "error" | "paused"
  customUserId: string | null
  reason: string | null
}

export type AccountPausedEvent = (EventHead) & {
  type: "account.paused"
  data: AccountEventData
}

export type AccountPausedWebhook = (WebhookEnvelopeHead) & {
  type: "account.paused"
  data: AccountEventData
}

export type AccountRecoveredEvent = (EventHead) & {
  type: "account.recovered"
  data: AccountEventData
}

export type AccountRecoveredWebhook = (WebhookEnvelopeHead) & {
  type: "account.recovered"
  data: AccountEventData
}

export type AccountResumedEvent = (EventHead) & {
  type: "account.resumed"
  data: AccountEventData
}

export type AccountResumedWebhook = (WebhookEnvelopeHead) & {
  type: "account.resumed"
  data: AccountEventData
}

export type AccountSyncStalledEvent = (EventHead) & {
  type: "account.sync_stalled"
  data: AccountEventData
}

export type AccountSyncStalledWebhook = (WebhookEnvelopeHead) & {
  type: "account.sync_stalled"
  data: AccountEventData
}

export type AccountUpdatedEvent = (EventHead) & {
  type: "account.updated"
  data: AccountEventData
}

export type AccountUpdatedWebhook = (WebhookEnvelopeHead) & {
  type: "account.updated"
  data: AccountEventData
}

export type Address = {
  name: string
  email: string
}

export type AddressBook = {
  id: string
  accountId: string
  provider: "gmail" | "microsoft" | "imap"
  providerId: string
  name: string
  writable: boolean
  default: boolean
  contacts: number
  syncedAt: string | null
  unreadable: {
    count: number
    contacts: ({
      providerContactId: string
      reason: string
    })[]
  }
  failure: ({
    reason: string
    since: string
    attempts: number
    nextAttemptAt: string
  } | null)
  createdAt: string
  updatedAt: string
}

export type ApiKey = {
  id: string
  name: string
  scopes: ("read" | "write" | "admin")[]
  hint: string
  createdBy: string
  createdAt: string
  expiresAt: string | null
  lastUsedAt: string | null
}

export type Attachment = {
  id: string
  filename: string
  contentType: string
  size: number
  inline: boolean
  contentId: string | null
}

export type AttachmentInput = {
  filename?: string
  contentType?: string
  content?: string
  part?: string
  contentId?: string | null
  messageId?: string
  attachmentId?: string
}

export type AuditEntry = {
  id: string
  timestamp: string
  actor: string
  action: string
  target: string | null
  requestId: string | null
  address: string | null
  details: Record<string, unknown>
}

export type AuthSession = {
  code: string
  authUrl: string
  expiresAt: string
  provider: "gmail" | "microsoft" | "imap" | null
  email: string | null
}

export type AuthSessionStatus = {
  status: "pending" | "started" | "completed" | "failed" | "expired"
  provider: "gmail" | "microsoft" | "imap" | null
  email: string | null
  accountId: string | null
  failureCode: string | null
  failureReason: string | null
  expiresAt: string
}

export type Availability = {
  slots: ({
    start: string
    end: string
    participants: (string)[]
    participantAvailability: Record<string, "available" | "busy" | "unknown">
  })[]
  timeZone: string
  sources: ({
    participant: string
    source: "stored" | "provider" | null
    syncedAt: string | null
    reason: "not_found" | "unavailable" | null
  })[]
}

export type AvailabilityOverride = {
  date: string
  start?: string
  end?: string
  closed?: boolean
}

export type Backfill = {
  accountId: string
  status: "idle" | "running" | "paused" | "completed" | "failed" | "cancelled"
  processed: number
  total: number | null
  ratePerMinute: number | null
  secondsLeft: number | null
  oldestReached: string | null
  startedAt: string | null
  updatedAt: string | null
  lastError: string | null
}

export type BackfillConfig = {
  enabled: boolean
  timeRangeDays: number
  batchSize: number
  delayBetweenBatches: number
  maxConcurrentAccounts: number
}

export type BackfillConfigUpdate = {
  enabled?: boolean
  timeRangeDays?: number
  batchSize?: number
  delayBetweenBatches?: number
  maxConcurrentAccounts?: number
}

export type BatchError = {
  code: string
  type: string
  message: string
}

export type BookedSlot = {
  start: string
  end: string
  timezone: string
  participants: (unknown)[]
  metadata: Record<string, unknown>
}

export type Booking = {
  id: string
  experienceSlug: string
  status: "pending" | "confirmed" | "rejected" | "cancelled" | "rescheduled"
  slot: BookedSlot
  guest: BookingGuest
  guestVerified: boolean
  attendees: (Record<string, unknown>)[]
  responses: Record<string, unknown>
  metadata: Record<string, unknown>
  eventId: string | null
  joinUrl: string | null
  createdAt: string
  updatedAt: string
  reason: string | null
  cancelledBy: "guest" | "host" | "api" | null
  needsConfirmation: boolean
  sendsMessages: boolean
  links: BookingLinks
  calendar: BookingCalendar
  version: number
}

export type BookingCalendar = {
  state: "none" | "pending" | "written" | "failing" | "failed"
  error: string | null
}

export type BookingCancelledData = {
  id: string
  experienceSlug: string
  status: "pending" | "confirmed" | "rejected" | "cancelled" | "rescheduled"
  slot: BookedSlot
  guest: BookingGuest
  guestVerified: boolean
  attendees: (Record<string, unknown>)[]
  responses: Record<string, unknown>
  metadata: Record<string, unknown>
  eventId: string | null
  joinUrl: string | null
  createdAt: string
  updatedAt: string
  cancelledBy: "guest" | "host" | "api"
  reason: string | null
}

export type BookingCancelledEvent = (EventHead) & {
  type: "booking.cancelled"
  data: BookingCancelledData
}

export type BookingCancelledWebhook = (WebhookEnvelopeHead) & {
  type: "booking.cancelled"
  data: BookingCancelledData
}

export type BookingChanges = {
  status?: "confirmed" | "rejected"
  reason?: string
  joinUrl?: string
  eventId?: string
  metadata?: Record<string, unknown>
  guest?: {
    name?: string
    timezone?: string
    locale?: string
  }
}

export type BookingConfirmedEvent = (EventHead) & {
  type: "booking.confirmed"
  data: BookingEventData
}

export type BookingConfirmedWebhook = (WebhookEnvelopeHead) & {
  type: "booking.confirmed"
  data: BookingEventData
}

export type BookingCreatedEvent = (EventHead) & {
  type: "booking.created"
  data: BookingEventData
}

export type BookingCreatedWebhook = (WebhookEnvelopeHead) & {
  type: "booking.created"
  data: BookingEventData
}

export type BookingEventData = {
  id: string
  experienceSlug: string
  status: "pending" | "confirmed" | "rejected" | "cancelled" | "rescheduled"
  slot: BookedSlot
  guest: BookingGuest
  guestVerified: boolean
  attendees: (Record<string, unknown>)[]
  responses: Record<string, unknown>
  metadata: Record<string, unknown>
  eventId: string | null
  joinUrl: string | null
  createdAt: string
  updatedAt: string
}

export type BookingForm = {
  title?: string
  description?: string
  submitButtonLabel?: string
  fields?: (BookingFormField)[]
  verifyEmail?: boolean
  routing?: (RoutingRule)[]
}

export type BookingFormField = {
  name: string
  label: string
  type: "text" | "email" | "phone" | "textarea" | "select" | "multiselect" | "checkbox"
  required?: boolean
  placeholder?: string
  options?: ({
    value: string
    label: string
  })[]
}

export type BookingGuest = {
  email: string
  name: string
  timezone?: string
}

export type BookingGuestInput = {
  email: string
  name?: string
  timezone?: string
  locale?: string
}

export type BookingLinks = {
  reschedule: string
  cancel: string
  calendar: string
}

export type BookingMailLimitedData = {
  experienceSlug: string
  limit: "experience" | "client" | "account" | "address"
  messages: number
  windowHours: number
}

export type BookingMailLimitedEvent = (EventHead) & {
  type: "booking.mail_limited"
  data: BookingMailLimitedData
}

export type BookingMailLimitedWebhook = (WebhookEnvelopeHead) & {
  type: "booking.mail_limited"
  data: BookingMailLimitedData
}

export type BookingRejectedData = {
  id: string
  experienceSlug: string
  status: "pending" | "confirmed" | "rejected" | "cancelled" | "rescheduled"
  slot: BookedSlot
  guest: BookingGuest
  guestVerified: boolean
  attendees: (Record<string, unknown>)[]
  responses: Record<string, unknown>
  metadata: Record<string, unknown>
  eventId: string | null
  joinUrl: string | null
  createdAt: string
  updatedAt: string
  reason: string | null
}

export type BookingRejectedEvent = (EventHead) & {
  type: "booking.rejected"
  data: BookingRejectedData
}

export type BookingRejectedWebhook = (WebhookEnvelopeHead) & {
  type: "booking.rejected"
  data: BookingRejectedData
}

export type BookingReminderData = {
  id: string
  experienceSlug: string
  status: "pending" | "confirmed" | "rejected" | "cancelled" | "rescheduled"
  slot: BookedSlot
  guest: BookingGuest
  guestVerified: boolean
  attendees: (Record<string, unknown>)[]
  responses: Record<string, unknown>
  metadata: Record<string, unknown>
  eventId: string | null
  joinUrl: string | null
  createdAt: string
  updatedAt: string
  minutesBefore: number
}

export type BookingReminderEvent = (EventHead) & {
  type: "booking.reminder"
  data: BookingReminderData
}

export type BookingReminderWebhook = (WebhookEnvelopeHead) & {
  type: "booking.reminder"
  data: BookingReminderData
}

export type BookingRescheduledData = {
  id: string
  experienceSlug: string
  status: "pending" | "confirmed" | "rejected" | "cancelled" | "rescheduled"
  slot: BookedSlot
  guest: BookingGuest
  guestVerified: boolean
  attendees: (Record<string, unknown>)[]
  responses: Record<string, unknown>
  metadata: Record<string, unknown>
  eventId: string | null
  joinUrl: string | null
  createdAt: string
  updatedAt: string
  previousSlot: BookedSlot
}

export type BookingRescheduledEvent = (EventHead) & {
  type: "booking.rescheduled"
  data: BookingRescheduledData
}

export type BookingRescheduledWebhook = (WebhookEnvelopeHead) & {
  type: "booking.rescheduled"
  data: BookingRescheduledData
}

export type BouncedRecipient = {
  email: string
  kind: "permanent" | "temporary"
  status: string | null
  diagnostic: string | null
  reportMessageId: string
  bouncedAt: string
}

export type Calendar = {
  id: string
  accountId: string
  provider: "gmail" | "microsoft" | "imap"
  providerId: string
  summary: string
  description: string
  timeZone: string
  backgroundColor: string | null
  foregroundColor: string | null
  accessRole: "freeBusyReader" | "reader" | "writer" | "owner"
  primary: boolean
  selected: boolean
  unreadable: {
    count: number
    events: ({
      providerEventId: string
      reason: string
    })[]
  }
  failure: ({
    reason: string
    since: string
    attempts: number
    nextAttemptAt: string
  } | null)
  createdAt: string
  updatedAt: string
}

export type CalendarAttendee = {
  email: string
  displayName: string | null
  responseStatus: "needsAction" | "accepted" | "tentative" | "declined"
  optional: boolean
  organizer: boolean
  self: boolean
}

export type CalendarEvent = {
  id: string
  accountId: string
  provider: "gmail" | "microsoft" | "imap"
  calendarId: string
  providerEventId: string
  iCalUID: string
  summary: string
  description: string | null
  location: string | null
  start: CalendarEventTime
  end: CalendarEventTime
  status: "confirmed" | "tentative" | "cancelled"
  busy: boolean
  visibility: "default" | "public" | "private" | "confidential"
  organizer: ({
    email: string
    displayName: string | null
  } | null)
  attendees: (CalendarAttendee)[]
  recurrence: (string)[]
  recurringEventId: string | null
  originalStart: string | null
  joinUrl: string | null
  reminders: ({
    method: "popup" | "email"
    minutes: number
  })[]
  htmlLink: string | null
  version: number
  createdAt: string
  updatedAt: string
}

export type CalendarEventChanges = {
  summary?: string
  description?: string | null
  location?: string | null
  start?: CalendarEventTimeInput
  end?: CalendarEventTimeInput
  recurrence?: ((string)[] | null)
  attendees?: (({
    email: string
    displayName?: string | null
    optional?: boolean
  })[] | null)
  reminders?: (({
    method: "popup" | "email"
    minutes: number
  })[] | null)
  busy?: boolean
  visibility?: "default" | "public" | "private" | "confidential"
  conference?: boolean
}

export type CalendarEventCreatedEvent = (EventHead) & {
  type: "calendar.event.created"
  data: CalendarEvent
}

export type CalendarEventCreatedWebhook = (WebhookEnvelopeHead) & {
  type: "calendar.event.created"
  data: CalendarEvent
}

export type CalendarEventDeletedEvent = (EventHead) & {
  type: "calendar.event.deleted"
  data: CalendarEvent
}

export type CalendarEventDeletedWebhook = (WebhookEnvelopeHead) & {
  type: "calendar.event.deleted"
  data: CalendarEvent
}

export type CalendarEventTime = {
  dateTime?: string
  date?: string
  timeZone: string | null
}

export type CalendarEventTimeInput = {
  dateTime?: string
  date?: string
  timeZone?: string | null
}

export type CalendarEventUpdatedEvent = (EventHead) & {
  type: "calendar.event.updated"
  data: CalendarEvent
}

export type CalendarEventUpdatedWebhook = (WebhookEnvelopeHead) & {
  type: "calendar.event.updated"
  data: CalendarEvent
}

export type CallbackEndpoint = {
  url: string
  method?: "POST" | "PUT" | "PATCH"
  headers?: (Record<string, string> | null)
  secret?: string | null
}

export type CancelBooking = {
  reason?: string
  token?: string
}

export type ChangedCalendarEvent = {
  id: string
  accountId: string
  provider: "gmail" | "microsoft" | "imap"
  calendarId: string
  providerEventId: string
  iCalUID: string
  summary: string
  description: string | null
  location: string | null
  start: CalendarEventTime
  end: CalendarEventTime
  status: "confirmed" | "tentative" | "cancelled"
  busy: boolean
  visibility: "default" | "public" | "private" | "confidential"
  organizer: ({
    email: string
    displayName: string | null
  } | null)
  attendees: (CalendarAttendee)[]
  recurrence: (string)[]
  recurringEventId: string | null
  originalStart: string | null
  joinUrl: string | null
  reminders: ({
    method: "popup" | "email"
    minutes: number
  })[]
  htmlLink: string | null
  version: number
  createdAt: string
  updatedAt: string
  warnings?: (string)[]
}

export type Check = {
  name: string
  ok: boolean
  status: "ok" | "warning" | "failed" | "skipped"
  message: string
  remedy: string | null
}

export type Connection = {
  id: string
  provider: "gmail" | "microsoft"
  kind: "tenant"
  name: string
  tenantId: string | null
  clientId: string | null
  thumbprint: string | null
  serviceAccountEmail: string | null
  keyId: string | null
  adminEmail: string | null
  hasSecret: boolean
  status: "connected" | "auth_error"
  statusReason: string | null
  accountCount: number
  createdAt: string
  updatedAt: string
}

export type Contact = {
  id: string
  accountId: string
  provider: "gmail" | "microsoft" | "imap"
  source: "address_book" | "inbox"
  addressBookId: string | null
  providerContactId: string | null
  displayName: string | null
  prefix: string | null
  givenName: string | null
  middleName: string | null
  surname: string | null
  suffix: string | null
  nickname: string | null
  birthday: string | null
  companyName: string | null
  department: string | null
  jobTitle: string | null
  managerName: string | null
  officeLocation: string | null
  notes: string | null
  emails: ({
    email: string
    type: string
  })[]
  phoneNumbers: ({
    number: string
    type: string
  })[]
  physicalAddresses: ({
    type: string
    streetAddress: string
    city: string
    postalCode: string
    state: string
    country: string
  })[]
  webPages: ({
    url: string
    type: string
  })[]
  imAddresses: ({
    imAddress: string
    type: string
  })[]
  groups: ({
    id: string
    name: string
  })[]
  photoUrl: string | null
  interactions: ({
    sent: number
    received: number
    lastAt: string
  } | null)
  version: number
  createdAt: string
  updatedAt: string
}

export type ContactCreatedEvent = (EventHead) & {
  type: "contact.created"
  data: Contact
}

export type ContactCreatedWebhook = (WebhookEnvelopeHead) & {
  type: "contact.created"
  data: Contact
}

export type ContactDeletedEvent = (EventHead) & {
  type: "contact.deleted"
  data: Contact
}

export type ContactDeletedWebhook = (WebhookEnvelopeHead) & {
  type: "contact.deleted"
  data: Contact
}

export type ContactGroup = {
  id: string
  accountId: string
  name: string
  kind: "listed" | "object" | "category"
  memberCount: number
  writable: boolean
  createdAt: string
  updatedAt: string
}

export type ContactUpdatedEvent = (EventHead) & {
  type: "contact.updated"
  data: Contact
}

export type ContactUpdatedWebhook = (WebhookEnvelopeHead) & {
  type: "contact.updated"
  data: Contact
}

export type CreateApiKey = {
  name: string
  scopes: ("read" | "write" | "admin")[]
  expiresAt?: string | null
}

export type CreatedApiKey = {
  id: string
  name: string
  scopes: ("read" | "write" | "admin")[]
  hint: string
  createdBy: string
  createdAt: string
  expiresAt: string | null
  lastUsedAt: string | null
  key: string
}

export type DebouncedQueueAccount = {
  accountId: string
  state: "idle" | "waiting" | "active"
  pending: number
  lastRunAt: string | null
  nextRunAt: string | null
  attempts: number
  lastError: string | null
  unreadable: {
    count: number
    items: (UnreadableItem)[]
  }
  lagMs: number | null
  watch: "idle" | "push" | "poll" | null
}

export type DebouncedQueueStatus = {
  provider: "database" | "redis"
  waiting: number
  active: number
  delayed: number
  completed: number
  failed: number
  paused: boolean
  accounts: number
}

export type DeduplicationConfig = {
  enabled: boolean
  keyFields: (string)[]
  ttlSeconds: number
}

export type DeduplicationConfigUpdate = {
  enabled?: boolean
  keyFields?: (string)[]
  ttlSeconds?: number
}

export type DeduplicationTest = {
  accountId: string
  eventType: string
  provider: string
  objectId?: string
  version?: number
  data?: Record<string, unknown>
}

export type DetailedHealth = {
  status: "healthy" | "degraded"
  services: {
    database: boolean
    cache: boolean
    queue: boolean
    pubsub: boolean
  }
  version: string
  instance: string
  phase: "starting" | "migrating" | "ready" | "draining"
  startedAt: string
  uptimeSeconds: number
  database: {
    healthy: boolean
    latencyMs: number
    problem?: string
    remedy?: string
    engine: "sqlite" | "postgres"
  }
  cache: {
    healthy: boolean
    latencyMs: number
    problem?: string
    remedy?: string
    provider: "memory" | "redis"
  }
  queue: {
    healthy: boolean
    latencyMs: number
    problem?: string
    remedy?: string
    provider: "database" | "redis"
  }
  rateLimiter: {
    healthy: boolean
    latencyMs: number
    problem?: string
    remedy?: string
    provider: "memory" | "redis"
  }
  pubsub: {
    healthy: boolean
    latencyMs: number
    problem?: string
    remedy?: string
    provider: "memory" | "postgres" | "redis"
  }
  search: {
    healthy: boolean
    problem?: string
    remedy?: string
  }
  gmailPush: {
    configured: boolean
    ready: boolean
    mode: "push" | "polling"
    problem?: string
    remedy?: string
  }
  onboarding: {
    canProceed: boolean
    reasons: ("no_provider" | "licence_full" | "database_unavailable" | "settings_invalid" | "oauth_incomplete" | "redirect_refused")[]
  }
  license: {
    plan: string
    effectiveAccountLimit: number | null
    currentAccounts: number | null
  }
  timeZones: {
    source: "shipped" | "system" | "runtime"
    version: string
    released: string
  }
  instances: number | null
  sync: ({
    stalledAccounts: number
    unownedAccounts: number
    greatestLagMs: number
  } | null)
  outbox: ({
    waiting: number
    oldestAgeMs: number | null
    uncertain: number
  } | null)
  deliveries: ({
    waiting: number
    oldestAgeMs: number | null
  } | null)
  events: ({
    waiting: number
    oldestAgeMs: number | null
  } | null)
  eventLoop: {
    meanMs: number
    p99Ms: number
    maxMs: number
  }
  logExport: {
    enabled: boolean
    dropped: number
  }
  providers: ({
    name: string
    canConnect: boolean
    remedy?: string
    redirectUri?: string
  })[]
  memory: {
    percentage: number
    limit: "container" | "heap"
    limitBytes: number
    rssBytes: number
    heapUsedBytes: number
  }
  warnings: ({
    code: string
    message: string
    remedy: string
  })[]
}

export type DirectoryUser = {
  id: string
  email: string
  name: string
  accountId: string | null
}

export type Done = {
  success: boolean
  message: string
}

export type Draft = {
  id: string
  accountId: string
  messageId: string
  from: string | null
  to: (string)[]
  cc: (string)[]
  bcc: (string)[]
  subject: string
  body: string
  isHtml: boolean
  attachments: (Attachment)[]
  providerDraftId: string
  version: number
  createdAt: string
  updatedAt: string
}

export type DraftChanges = {
  from?: string
  to?: (string)[]
  cc?: (string)[]
  bcc?: (string)[]
  subject?: string
  body?: string
  isHtml?: boolean
  attachments?: (AttachmentInput)[]
}

export type DraftCreatedEvent = (EventHead) & {
  type: "draft.created"
  data: DraftEventData
}

export type DraftCreatedWebhook = (WebhookEnvelopeHead) & {
  type: "draft.created"
  data: DraftEventData
}

export type DraftDeletedEvent = (EventHead) & {
  type: "draft.deleted"
  data: DraftEventData
}

export type DraftDeletedWebhook = (WebhookEnvelopeHead) & {
  type: "draft.deleted"
  data: DraftEventData
}

export type DraftEventData = {
  id: string
  providerMessageId: string
  threadId: string | null
  messageId: string | null
  inReplyTo: string | null
  references: (string)[]
  subject: string
  from: (Address | null)
  to: (Address)[]
  cc: (Address)[]
  bcc: (Address)[]
  replyTo: (Address)[]
  date: string | null
  receivedAt: string
  snippet: string
  labelIds: (string)[]
  unread: boolean
  starred: boolean
  hasAttachments: boolean
  attachments: (Attachment)[]
  size: number
  error: string | null
  createdAt: string
  updatedAt: string
  accountId: string
  provider: "gmail" | "microsoft" | "imap"
  folder: string | null
  body?: {
    text: string | null
    html: string | null
  }
  truncated?: boolean
  draftId: string
}

export type DraftSaveResult = {
  success: boolean
  result: {
    success: boolean
    messageId: string
    tracking: TrackingResult
    draftId: string
    providerMessageId: string
  }
}

export type DraftUpdatedEvent = (EventHead) & {
  type: "draft.updated"
  data: DraftEventData
}

export type DraftUpdatedWebhook = (WebhookEnvelopeHead) & {
  type: "draft.updated"
  data: DraftEventData
}

export type DroppedLogEntries = {
  count: number
}

export type EncryptionKeys = {
  primaryKeyId: string
  keyIds: (string)[]
  isGenerated: boolean
  instances: ({
    id: string
    keyIds: (string)[]
  })[]
}

export type Error = {
  success: false
  error: {
    code: string
    type: string
    message: string
    docUrl: string
    details: ({
      path: string
      message: string
      code?: "required" | "too_long" | "invalid_email" | "invalid_phone" | "invalid_option" | "invalid_characters" | "contains_link" | "wrong_code" | "certificate_self_signed" | "certificate_untrusted" | "certificate_expired" | "certificate_not_yet_valid" | "certificate_wrong_host" | "starttls_not_offered" | "encryption_required" | "no_password_login" | "no_oauth_login"
    })[]
    redirectUrl?: string
    current?: Record<string, unknown>
  }
  requestId: string
}

export type Event = (AccountConnectedEvent | AccountUpdatedEvent | AccountAuthErrorEvent | AccountSyncStalledEvent | AccountRecoveredEvent | AccountPausedEvent | AccountResumedEvent | AccountDeletedEvent | MessageReceivedEvent | MessageSentEvent | MessageUpdatedEvent | MessageDeletedEvent | DraftCreatedEvent | DraftUpdatedEvent | DraftDeletedEvent | MailboxChangedEvent | MessageSendFailedEvent | MessageBouncedEvent | MessageOpenedEvent | MessageLinkClickedEvent | MessageRepliedEvent | SyncBackfillStartedEvent | SyncBackfillProgressEvent | SyncBackfillCompletedEvent | SyncBackfillFailedEvent | CalendarEventCreatedEvent | CalendarEventUpdatedEvent | CalendarEventDeletedEvent | ContactCreatedEvent | ContactUpdatedEvent | ContactDeletedEvent | BookingCreatedEvent | BookingConfirmedEvent | BookingRejectedEvent | BookingRescheduledEvent | BookingCancelledEvent | BookingMailLimitedEvent | BookingReminderEvent | WebhookTestEvent | WebhookEndpointDisabledEvent)

export type EventHead = {
  position: number
  test: boolean
  id: string
  timestamp: string
  apiVersion: string
  accountId: string | null
  provider: "gmail" | "microsoft" | "imap" | null
  sequence: number | null
  objectId: string | null
  version: number | null
}

export type EventResend = {
  endpointId: string
}

export type Experience = {
  id: string
  slug: string
  name: string
  description: string
  timezone: string
  isActive: boolean
  defaultAccountIds: (string)[]
  metadata: Record<string, unknown>
  availability: (ExperienceAvailability | null)
  availabilityEndpoint: (CallbackEndpoint | null)
  bookingEndpoint: (CallbackEndpoint | null)
  routingEndpoint: (CallbackEndpoint | null)
  bookingForm: (BookingForm | null)
  ui: (ExperienceUi | null)
  allowedOrigins: (string)[]
  mailLimit?: MailLimit
  bookingUrl: string
  callbackSecret?: string
  createdAt: string
  updatedAt: string
}

export type ExperienceAvailability = {
  timezone?: string
  openHours?: (OpenHours)[]
  overrides?: (AvailabilityOverride)[]
  bufferBeforeMinutes?: number
  bufferAfterMinutes?: number
  minimumNoticeMinutes?: number
  maximumDaysAhead?: number
  maximumPerDay?: number
  intervalMinutes?: number
  durationMinutes?: number
  durations?: (number)[]
  assignment?: "collective" | "round_robin"
  checkCalendars?: "live" | "stored"
  decisionMinutes?: number
  reminders?: (number)[]
  conference?: boolean
  weights?: Record<string, number>
}

export type ExperienceCreate = {
  slug: string
  name: string
  description?: string | null
  timezone?: string | null
  isActive?: boolean
  defaultAccountIds?: ((string)[] | null)
  metadata?: (Record<string, unknown> | null)
  availability?: (ExperienceAvailability | null)
  availabilityEndpoint?: (CallbackEndpoint | null)
  bookingEndpoint?: (CallbackEndpoint | null)
  routingEndpoint?: (CallbackEndpoint | null)
  bookingForm?: (BookingForm | null)
  ui?: (ExperienceUi | null)
  allowedOrigins?: ((string)[] | null)
}

export type ExperienceUi = {
  theme?: unknown
  layout?: unknown
  copy?: unknown
  host?: unknown
}

export type ExperienceUpdate = {
  name?: string
  description?: string | null
  timezone?: string | null
  isActive?: boolean
  defaultAccountIds?: ((string)[] | null)
  metadata?: (Record<string, unknown> | null)
  availability?: (ExperienceAvailability | null)
  availabilityEndpoint?: (CallbackEndpoint | null)
  bookingEndpoint?: (CallbackEndpoint | null)
  routingEndpoint?: (CallbackEndpoint | null)
  bookingForm?: (BookingForm | null)
  ui?: (ExperienceUi | null)
  allowedOrigins?: ((string)[] | null)
}

export type GuestBooking = {
  id: string
  experienceSlug: string
  status: "pending" | "confirmed" | "rejected" | "cancelled" | "rescheduled"
  slot: BookedSlot
  guest: BookingGuest
  guestVerified: boolean
  attendees: (Record<string, unknown>)[]
  responses: Record<string, unknown>
  metadata: Record<string, unknown>
  eventId: string | null
  joinUrl: string | null
  createdAt: string
  updatedAt: string
  reason: string | null
  cancelledBy: "guest" | "host" | "api" | null
  needsConfirmation: boolean
  sendsMessages: boolean
  links: BookingLinks
}

export type Health = {
  status: "healthy" | "degraded"
  services: {
    database: boolean
    cache: boolean
    queue: boolean
    pubsub: boolean
  }
  cache: {
    provider: "memory" | "redis"
  }
  queue: {
    provider: "database" | "redis"
  }
  pubsub: {
    provider: "memory" | "postgres" | "redis"
  }
  gmailPush: {
    configured: boolean
    ready: boolean
    mode: "push" | "polling"
  }
  onboarding: {
    canProceed: boolean
    reasons: ("no_provider" | "licence_full" | "database_unavailable" | "settings_invalid" | "oauth_incomplete" | "redirect_refused")[]
  }
  license: {
    plan: string
    effectiveAccountLimit: number | null
    currentAccounts: number | null
  }
  memory: {
    percentage: number
  }
  warnings: (string)[]
}

export type Hold = {
  id: string
  slot: BookedSlot
  expiresAt: string
}

export type InvitationResponse = {
  response: "accepted" | "tentative" | "declined"
  comment?: string
}

export type Label = {
  id: string
  accountId: string
  name: string
  displayName: string
  color: string | null
  providerId: string
  type: "system" | "user"
  role: string | null
  createdAt: string
  updatedAt: string
}

export type ListedSlot = {
  start: string
  end: string
  timezone: string
  participants: (unknown)[]
  metadata: Record<string, unknown>
  token?: string
}

export type LogEntry = {
  id: string
  level: "trace" | "debug" | "info" | "warn" | "error" | "fatal"
  message: string
  timestamp: string
  accountId: string | null
  provider: string | null
  operation: string | null
  requestId: string | null
  durationMs: number | null
  error: (Record<string, unknown> | null)
  metadata: (Record<string, unknown> | null)
  instance: string
}

export type MailLimit = {
  limit: "experience" | "client" | "account" | "address"
  limitedAt: string
  refusedRequests: number
}

export type MailboxChangedData = {
  folder: string
  labelId: string
  added: number
  updated: number
  deleted: number
}

export type MailboxChangedEvent = (EventHead) & {
  type: "mailbox.changed"
  data: MailboxChangedData
}

export type MailboxChangedWebhook = (WebhookEnvelopeHead) & {
  type: "mailbox.changed"
  data: MailboxChangedData
}

export type Message = {
  id: string
  providerMessageId: string
  threadId: string | null
  messageId: string | null
  inReplyTo: string | null
  references: (string)[]
  subject: string
  from: (Address | null)
  to: (Address)[]
  cc: (Address)[]
  bcc: (Address)[]
  replyTo: (Address)[]
  date: string | null
  receivedAt: string
  snippet: string
  labelIds: (string)[]
  unread: boolean
  starred: boolean
  hasAttachments: boolean
  attachments: (Attachment)[]
  size: number
  error: string | null
  createdAt: string
  updatedAt: string
  accountId: string
  provider: "gmail" | "microsoft" | "imap"
  folder: string | null
}

export type MessageBouncedData = {
  messageId: string | null
  reportMessageId: string
  subject: string | null
  kind: "permanent" | "temporary"
  recipients: ({
    email: string
    status: string | null
    diagnostic: string | null
  })[]
  bouncedAt: string
}

export type MessageBouncedEvent = (EventHead) & {
  type: "message.bounced"
  data: MessageBouncedData
}

export type MessageBouncedWebhook = (WebhookEnvelopeHead) & {
  type: "message.bounced"
  data: MessageBouncedData
}

export type MessageDeletedEvent = (EventHead) & {
  type: "message.deleted"
  data: MessageEventData
}

export type MessageDeletedWebhook = (WebhookEnvelopeHead) & {
  type: "message.deleted"
  data: MessageEventData
}

export type MessageDetail = {
  id: string
  providerMessageId: string
  threadId: string | null
  messageId: string | null
  inReplyTo: string | null
  references: (string)[]
  subject: string
  from: (Address | null)
  to: (Address)[]
  cc: (Address)[]
  bcc: (Address)[]
  replyTo: (Address)[]
  date: string | null
  receivedAt: string
  snippet: string
  labelIds: (string)[]
  unread: boolean
  starred: boolean
  hasAttachments: boolean
  attachments: (Attachment)[]
  size: number
  error: string | null
  createdAt: string
  updatedAt: string
  accountId: string
  provider: "gmail" | "microsoft" | "imap"
  folder: string | null
  body: MessageDetailBody
  headers: ({
    name: string
    value: string
  })[]
}

export type MessageDetailBody = {
  text: string | null
  html: string | null
  sanitized?: boolean
}

export type MessageEventData = {
  id: string
  providerMessageId: string
  threadId: string | null
  messageId: string | null
  inReplyTo: string | null
  references: (string)[]
  subject: string
  from: (Address | null)
  to: (Address)[]
  cc: (Address)[]
  bcc: (Address)[]
  replyTo: (Address)[]
  date: string | null
  receivedAt: string
  snippet: string
  labelIds: (string)[]
  unread: boolean
  starred: boolean
  hasAttachments: boolean
  attachments: (Attachment)[]
  size: number
  error: string | null
  createdAt: string
  updatedAt: string
  accountId: string
  provider: "gmail" | "microsoft" | "imap"
  folder: string | null
  body?: {
    text: string | null
    html: string | null
  }
  truncated?: boolean
}

export type MessageLinkClickedData = {
  trackingId: string
  messageId: string
  subject: string
  occurredAt: string
  automated: boolean
  automatedReason: "prefetch" | "apple_mail_privacy" | "gmail_image_proxy" | "scanner" | "no_user_agent" | "automatic_reply" | null
  userAgent: string | null
  ipAddress: string | null
  url: string
  clickCount: number
}

export type MessageLinkClickedEvent = (EventHead) & {
  type: "message.link_clicked"
  data: MessageLinkClickedData
}

export type MessageLinkClickedWebhook = (WebhookEnvelopeHead) & {
  type: "message.link_clicked"
  data: MessageLinkClickedData
}

export type MessageOpenedData = {
  trackingId: string
  messageId: string
  subject: string
  occurredAt: string
  automated: boolean
  automatedReason: "prefetch" | "apple_mail_privacy" | "gmail_image_proxy" | "scanner" | "no_user_agent" | "automatic_reply" | null
  userAgent: string | null
  ipAddress: string | null
  openCount: number
}

export type MessageOpenedEvent = (EventHead) & {
  type: "message.opened"
  data: MessageOpenedData
}

export type MessageOpenedWebhook = (WebhookEnvelopeHead) & {
  type: "message.opened"
  data: MessageOpenedData
}

export type MessageReceivedEvent = (EventHead) & {
  type: "message.received"
  data: MessageEventData
}

export type MessageReceivedWebhook = (WebhookEnvelopeHead) & {
  type: "message.received"
  data: MessageEventData
}

export type MessageRepliedData = {
  messageId: string
  trackingId: string | null
  replyMessageId: string
  threadId: string | null
  subject: string
  from: (Address | null)
  repliedAt: string
  automated: boolean
}

export type MessageRepliedEvent = (EventHead) & {
  type: "message.replied"
  data: MessageRepliedData
}

export type MessageRepliedWebhook = (WebhookEnvelopeHead) & {
  type: "message.replied"
  data: MessageRepliedData
}

export type MessageSendFailedData = {
  outboxId: string
  messageId: string
  subject: string
  to: (string)[]
  reason: "rejected" | "auth_expired" | "unavailable" | "uncertain"
  message: string
  attempts: number
  failedAt: string
}

export type MessageSendFailedEvent = (EventHead) & {
  type: "message.send_failed"
  data: MessageSendFailedData
}

export type MessageSendFailedWebhook = (WebhookEnvelopeHead) & {
  type: "message.send_failed"
  data: MessageSendFailedData
}

export type MessageSentEvent = (EventHead) & {
  type: "message.sent"
  data: MessageEventData
}

export type MessageSentWebhook = (WebhookEnvelopeHead) & {
  type: "message.sent"
  data: MessageEventData
}

export type MessageUpdatedEvent = (EventHead) & {
  type: "message.updated"
  data: MessageEventData
}

export type MessageUpdatedWebhook = (WebhookEnvelopeHead) & {
  type: "message.updated"
  data: MessageEventData
}

export type NewBooking = {
  slot?: SlotChoice
  holdId?: string
  guest: BookingGuestInput
  attendees?: (Record<string, unknown>)[]
  responses?: Record<string, unknown>
  metadata?: Record<string, unknown>
  verificationCode?: string
  verificationId?: string
  website?: string
}

export type NewCalendarEvent = {
  summary?: string
  description?: string | null
  location?: string | null
  start: CalendarEventTimeInput
  end: CalendarEventTimeInput
  recurrence?: ((string)[] | null)
  attendees?: (({
    email: string
    displayName?: string | null
    optional?: boolean
  })[] | null)
  reminders?: (({
    method: "popup" | "email"
    minutes: number
  })[] | null)
  busy?: boolean
  visibility?: "default" | "public" | "private" | "confidential"
  conference?: boolean
}

export type NewCertificateConnection = {
  provider: "microsoft"
  kind: "tenant"
  name: string
  tenantId: string
  clientId: string
  privateKey: string
  certificate: string
}

export type NewConnectionAccount = {
  connectionId: string
  email: string
  provider?: "gmail" | "microsoft"
  customUserId?: string | null
}

export type NewDraft = {
  from?: string
  to: (string)[]
  cc?: (string)[]
  bcc?: (string)[]
  subject: string
  body: string
  isHtml?: boolean
  attachments?: (AttachmentInput)[]
}

export type NewHold = {
  slot: SlotChoice
}

export type NewImapAccount = {
  provider?: "imap"
  customUserId?: string | null
  email: string
  host: string
  port?: number | string | null
  secure?: boolean | string | null
  allowSelfSigned?: boolean | string | null
  username: string
  password: string
  mailbox?: string | null
  smtpHost?: string | null
  smtpPort?: number | string | null
  smtpSecure?: boolean | string | null
  smtpUsername?: string | null
  smtpPassword?: string | null
  caldavUrl?: string | null
  caldavUsername?: string | null
  caldavPassword?: string | null
}

export type NewImapOAuthAccount = {
  provider?: "imap"
  customUserId?: string | null
  oauthProvider: string
  refreshToken: string
  email: string
}

export type NewOAuthAccount = {
  provider: "gmail" | "microsoft"
  customUserId?: string | null
  refreshToken: string
  email?: string | null
}

export type NewSecretConnection = {
  provider: "microsoft"
  kind: "tenant"
  name: string
  tenantId: string
  clientId: string
  clientSecret: string
}

export type NewServiceAccountConnection = {
  provider: "gmail"
  kind: "tenant"
  name: string
  serviceAccountKey: (string | Record<string, unknown>)
  adminEmail?: string | null
}

export type NewSharedAccount = {
  provider: "microsoft"
  sharedWith: string
  mailbox: string
  customUserId?: string | null
}

export type NewTestEvent = {
  type: string
}

export type NewThumbprintConnection = {
  provider: "microsoft"
  kind: "tenant"
  name: string
  tenantId: string
  clientId: string
  privateKey: string
  thumbprint: string
}

export type OpenHours = {
  days: ((number | "sunday" | "monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday"))[]
  start: string
  end: string
  timezone?: string
}

export type OutboxMessage = {
  id: string
  accountId: string
  messageId: string
  draftId: string | null
  status: "scheduled" | "queued" | "sending" | "sent" | "failed" | "uncertain" | "cancelled"
  from: Address
  to: (Address)[]
  cc: (Address)[]
  bcc: (Address)[]
  subject: string
  size: number
  refused: (RefusedRecipient)[]
  bounced: (BouncedRecipient)[]
  error: ({
    reason: "rejected" | "auth_expired" | "unavailable" | "uncertain"
    message: string
  } | null)
  copyError: ({
    message: string
    nextAttemptAt: string | null
  } | null)
  attempts: number
  sendAt: string | null
  nextAttemptAt: string | null
  sentAt: string | null
  createdAt: string
  updatedAt: string
}

export type Pagination = {
  page: number
  limit: number
  total: number
  totalPages: number
  hasNext: boolean
  hasPrev: boolean
  totalCapped?: boolean
  partial?: boolean
  source?: "provider"
  nextCursor?: string
  nextPageToken?: string
}

export type PromoteEncryptionKey = {
  keyId?: string
}

export type ProviderValidation = {
  success: boolean
  checks: (Check)[]
}

export type PublicBookingForm = {
  title?: string
  description?: string
  submitButtonLabel?: string
  fields?: (BookingFormField)[]
  verifyEmail?: boolean
}

export type PublicExperience = {
  slug: string
  name: string
  description: string
  timezone: string
  bookingForm: (PublicBookingForm | null)
  ui: (ExperienceUi | null)
  durationMinutes: number
  durations: (number)[]
  sendsMessages: boolean | null
}

export type RefusedRecipient = {
  email: string
  code: number | null
  diagnostic: string
}

export type RescheduleBooking = {
  slot: SlotChoice
  token?: string
}

export type Reseal = {
  after?: string
}

export type Resealed = {
  success: boolean
  keyId: string
  checked: number
  resealed: number
  unreadable: ({
    table: string
    id: string
    keyId: string
  })[]
  next: string | null
}

export type RoutingRule = {
  when: {
    field: string
    equals?: string | boolean
    in?: (string | boolean)[]
  }
  accountIds?: (string)[]
  slug?: string
  redirectUrl?: string
}

export type SchedulerJob = {
  id: string
  bookingId: string
  type: "callback" | "calendar" | "message" | "reminder" | "decision"
  subject: string
  status: "waiting" | "active" | "completed" | "failed" | "cancelled"
  attempts: number
  lastError: string | null
  dueAt: string | null
  giveUpAt: string
  createdAt: string
  updatedAt: string
}

export type SchedulerQueueStatus = {
  counts: {
    waiting: number
    active: number
    completed: number
    failed: number
    cancelled: number
  }
  oldestDueAt: string | null
  lateMs: number
}

export type SendDraft = {
  tracking?: boolean
  sendAt?: string | null
}

export type SendMessage = {
  to?: (string)[]
  cc?: (string)[]
  bcc?: (string)[]
  replyTo?: (string)[]
  from?: string
  subject?: string
  body?: string
  isHtml?: boolean
  attachments?: (AttachmentInput)[]
  replyToMessageId?: string | null
  forwardMessageId?: string | null
  headers?: Record<string, string>
  tracking?: boolean
  sendAt?: string | null
}

export type SendResult = {
  success: boolean
  result: {
    success: boolean
    messageId: string
    tracking: TrackingResult
  }
  outboxId: string
  status: "scheduled" | "queued" | "sending" | "sent" | "failed" | "uncertain" | "cancelled"
}

export type Setting = {
  name: string
  variable: string
  value: string | null
  source: "environment" | "file" | "default" | "generated"
  isSecret: boolean
  about: string
}

export type SlotChoice = {
  start: string
  end?: string
  timezone?: string
  token?: string
  participants?: (unknown)[]
  metadata?: Record<string, unknown>
}

export type SlotList = {
  experience: {
    slug: string
    name: string
    timezone: string
  }
  generatedAt: string
  expiresAt: string | null
  timezone: string
  slots: (ListedSlot)[]
  redirectUrl?: string
}

export type SlotSearch = {
  range: {
    start: string
    end: string
    timezone?: string
  }
  durationMinutes: number
  intervalMinutes?: number
  timezone?: string
  attendees?: ({
    id?: string
    email?: string
    displayName?: string
  })[]
  bookingFormResponse?: Record<string, unknown>
  constraints?: Record<string, unknown>
  metadata?: Record<string, unknown>
}

export type SyncBackfillCompletedEvent = (EventHead) & {
  type: "sync.backfill_completed"
  data: Backfill
}

export type SyncBackfillCompletedWebhook = (WebhookEnvelopeHead) & {
  type: "sync.backfill_completed"
  data: Backfill
}

export type SyncBackfillFailedEvent = (EventHead) & {
  type: "sync.backfill_failed"
  data: Backfill
}

export type SyncBackfillFailedWebhook = (WebhookEnvelopeHead) & {
  type: "sync.backfill_failed"
  data: Backfill
}

export type SyncBackfillProgressEvent = (EventHead) & {
  type: "sync.backfill_progress"
  data: Backfill
}

export type SyncBackfillProgressWebhook = (WebhookEnvelopeHead) & {
  type: "sync.backfill_progress"
  data: Backfill
}

export type SyncBackfillStartedEvent = (EventHead) & {
  type: "sync.backfill_started"
  data: Backfill
}

export type SyncBackfillStartedWebhook = (WebhookEnvelopeHead) & {
  type: "sync.backfill_started"
  data: Backfill
}

export type Thread = {
  id: string
  accountId: string
  provider: "gmail" | "microsoft" | "imap"
  subject: string
  snippet: string
  participants: (Address)[]
  messageCount: number
  unreadCount: number
  starred: boolean
  hasAttachments: boolean
  labelIds: (string)[]
  firstMessageAt: string
  lastMessageAt: string
}

export type ThreadDetail = {
  id: string
  accountId: string
  provider: "gmail" | "microsoft" | "imap"
  subject: string
  snippet: string
  participants: (Address)[]
  messageCount: number
  unreadCount: number
  starred: boolean
  hasAttachments: boolean
  labelIds: (string)[]
  firstMessageAt: string
  lastMessageAt: string
  messages: (Message)[]
  pagination: Pagination
}

export type Tracking = {
  tracking: {
    id: string
    messageId: string
  }
  metrics: {
    totalEvents: number
    openCount: number
    clickCount: number
    replyCount: number
    lastEventAt: string | null
    lastOpenedAt: string | null
    lastClickedAt: string | null
    lastRepliedAt: string | null
  }
  events: (TrackingEvent)[]
}

export type TrackingEvent = {
  id: string
  type: "opened" | "link_clicked" | "replied"
  occurredAt: string
  automated: boolean
  automatedReason: "prefetch" | "apple_mail_privacy" | "gmail_image_proxy" | "scanner" | "no_user_agent" | "automatic_reply" | null
  url: string | null
  replyMessageId: string | null
  userAgent: string | null
  ipAddress: string | null
}

export type TrackingResult = {
  id: string
  token: string
  pixelUrl: string
  snippet: string
  headers: Record<string, string>
  domain: string
}

export type UnreadableItem = {
  kind: "message" | "folder"
  providerId: string
  folder: string | null
  reason: string
  failures: number
  failedAt: string
  nextAttemptAt: string
}

export type UpdateConnection = {
  name?: string
  clientSecret?: string
  privateKey?: string
  certificate?: string
  thumbprint?: string
  serviceAccountKey?: (string | Record<string, unknown>)
  adminEmail?: string | null
}

export type VerificationRequest = {
  email: string
  website?: string
}

export type VerificationSent = {
  success: boolean
  message: string
  verificationId: string
  expiresAt: string
}

export type WebhookAttempt = {
  attempt: number
  startedAt: string
  durationMs: number
  responseStatus: number | null
  responseBody: string | null
  error: ({
    kind: string
    message: string
  } | null)
}

export type WebhookCircuit = {
  state: "closed" | "open" | "half_open"
  openedAt: string | null
  nextProbeAt: string | null
  failures: number
}

export type WebhookDelivery = {
  id: string
  endpointId: string
  eventId: string
  eventType: string
  accountId: string | null
  status: "pending" | "retrying" | "success" | "failed" | "deduplicated" | "cancelled"
  trigger: "event" | "retry" | "recover" | "test" | "test-message"
  test: boolean
  attempt: number
  maxAttempts: number
  url: string
  payload: (WebhookEnvelope | null)
  requestHeaders: Record<string, string>
  responseStatus: number | null
  responseBody: string | null
  error: ({
    kind: string
    message: string
  } | null)
  durationMs: number | null
  createdAt: string
  lastAttemptAt: string | null
  nextAttemptAt: string | null
  deliveredAt: string | null
  attempts: (WebhookAttempt)[]
}

export type WebhookEndpoint = {
  id: string
  url: string
  hasSecret: boolean
  secret?: string
  eventTypes: (string)[]
  headers: Record<string, string>
  isActive: boolean
  retryCount: number
  retryDelayMs: number
  retryStrategy: "fixed" | "exponential"
  timeoutMs: number
  lastDeliveryAt: string | null
  circuit: WebhookCircuit
  createdAt: string
  updatedAt: string
}

export type WebhookEndpointCreate = {
  url: string
  id?: string
  secret?: string | null
  eventTypes?: (string)[]
  headers?: (Record<string, string> | null)
  isActive?: boolean
  retryCount?: number
  retryDelayMs?: number
  retryStrategy?: "fixed" | "exponential"
  timeoutMs?: number
}

export type WebhookEndpointDisabledData = {
  endpointId: string
  url: string
  reason: "gone"
  disabledAt: string
}

export type WebhookEndpointDisabledEvent = (EventHead) & {
  type: "webhook.endpoint_disabled"
  data: WebhookEndpointDisabledData
}

export type WebhookEndpointDisabledWebhook = (WebhookEnvelopeHead) & {
  type: "webhook.endpoint_disabled"
  data: WebhookEndpointDisabledData
}

export type WebhookEndpointUpdate = {
  url?: string
  secret?: string | null
  eventTypes?: (string)[]
  headers?: (Record<string, string> | null)
  isActive?: boolean
  retryCount?: number
  retryDelayMs?: number
  retryStrategy?: "fixed" | "exponential"
  timeoutMs?: number
}

export type WebhookEnvelope = (AccountConnectedWebhook | AccountUpdatedWebhook | AccountAuthErrorWebhook | AccountSyncStalledWebhook | AccountRecoveredWebhook | AccountPausedWebhook | AccountResumedWebhook | AccountDeletedWebhook | MessageReceivedWebhook | MessageSentWebhook | MessageUpdatedWebhook | MessageDeletedWebhook | DraftCreatedWebhook | DraftUpdatedWebhook | DraftDeletedWebhook | MailboxChangedWebhook | MessageSendFailedWebhook | MessageBouncedWebhook | MessageOpenedWebhook | MessageLinkClickedWebhook | MessageRepliedWebhook | SyncBackfillStartedWebhook | SyncBackfillProgressWebhook | SyncBackfillCompletedWebhook | SyncBackfillFailedWebhook | CalendarEventCreatedWebhook | CalendarEventUpdatedWebhook | CalendarEventDeletedWebhook | ContactCreatedWebhook | ContactUpdatedWebhook | ContactDeletedWebhook | BookingCreatedWebhook | BookingConfirmedWebhook | BookingRejectedWebhook | BookingRescheduledWebhook | BookingCancelledWebhook | BookingMailLimitedWebhook | BookingReminderWebhook | WebhookTestWebhook | WebhookEndpointDisabledWebhook)

export type WebhookEnvelopeHead = {
  deliveryId: string
  test: boolean
  id: string
  timestamp: string
  apiVersion: string
  accountId: string | null
  provider: "gmail" | "microsoft" | "imap" | null
  sequence: number | null
  objectId: string | null
  version: number | null
}

export type WebhookRecovery = {
  since: string
  until?: string
}

export type WebhookTestData = {
  endpointId: string
  message: string
}

export type WebhookTestEvent = (EventHead) & {
  type: "webhook.test"
  data: WebhookTestData
}

export type WebhookTestWebhook = (WebhookEnvelopeHead) & {
  type: "webhook.test"
  data: WebhookTestData
}

// Which method of which resource calls an operation. A resource has the name that the API gives to its objects.

/** @type {Record<string, { about: string, methods: Record<string, string> }>} methods: their names, and the operation of each */
export const RESOURCES = {
  sessions: {
    about: 'Sessions of hosted authentication, in which users connect their mailboxes.',
    methods: { create: 'createAuthSession', get: 'getAuthSession', start: 'startAuthSession' },
  },
  hostedPages: {
    about: 'The requests of the hosted pages, for applications that have screens of their own.',
    methods: {
      open: 'openHostedPage',
      chooseProvider: 'chooseProvider',
      connectImapMailbox: 'connectImapMailbox',
      listImapFolders: 'listImapFolders',
      completeProviderSignIn: 'completeProviderSignIn',
    },
  },
  accounts: {
    about: 'Connected mailboxes.',
    methods: {
      list: 'listAccounts',
      create: 'createAccount',
      get: 'getAccount',
      update: 'updateAccount',
      delete: 'deleteAccount',
      pause: 'pauseAccount',
      resume: 'resumeAccount',
      sync: 'syncAccount',
    },
  },
  connections: {
    about: 'Credentials with which your application opens all mailboxes of an organisation.',
    methods: {
      list: 'listConnections',
      create: 'createConnection',
      get: 'getConnection',
      update: 'updateConnection',
      delete: 'deleteConnection',
      listUsers: 'listConnectionUsers',
    },
  },
  messages: {
    about: 'The messages of an account.',
    methods: {
      list: 'listMessages',
      get: 'getMessage',
      update: 'updateMessage',
      updateMany: 'updateMessages',
      delete: 'deleteMessage',
      download: 'downloadMessage',
      send: 'sendMessage',
      getTracking: 'getMessageTracking',
    },
  },
  attachments: {
    about: 'The attachments of messages.',
    methods: { download: 'downloadAttachment' },
  },
  threads: {
    about: 'The conversations of an account.',
    methods: { list: 'listThreads', get: 'getThread' },
  },
  drafts: {
    about: 'The drafts of an account, in sync with its Drafts folder.',
    methods: {
      list: 'listDrafts',
      save: 'saveDraft',
      create: 'createDraft',
      get: 'getDraft',
      update: 'updateDraft',
      delete: 'deleteDraft',
      send: 'sendDraft',
    },
  },
  outbox: {
    about: 'What became of sent messages.',
    methods: {
      list: 'listOutboxMessages',
      get: 'getOutboxMessage',
      cancel: 'cancelOutboxMessage',
      resolve: 'resolveOutboxMessage',
    },
  },
  labels: {
    about: 'The labels of a gmail mailbox, or the folders of any other.',
    methods: {
      list: 'listLabels',
      create: 'createLabel',
      update: 'updateLabel',
      delete: 'deleteLabel',
      sync: 'syncLabels',
      clearCache: 'clearLabelCache',
    },
  },
  calendars: {
    about: 'The calendars of an account.',
    methods: { list: 'listCalendars' },
  },
  calendarEvents: {
    about: 'The events of a calendar.',
    methods: {
      list: 'listCalendarEvents',
      create: 'createCalendarEvent',
      get: 'getCalendarEvent',
      update: 'updateCalendarEvent',
      delete: 'deleteCalendarEvent',
      respond: 'respondToCalendarEvent',
    },
  },
  contacts: {
    about: 'The contacts of an account.',
    methods: {
      list: 'listContacts',
      get: 'getContact',
      create: 'createContact',
      update: 'updateContact',
      delete: 'deleteContact',
      getPhoto: 'getContactPhoto',
    },
  },
  contactGroups: {
    about: 'The groups of contacts.',
    methods: {
      list: 'listContactGroups',
      create: 'createContactGroup',
      update: 'updateContactGroup',
      delete: 'deleteContactGroup',
    },
  },
  addressBooks: {
    about: 'The address books of an account, with the state of their sync.',
    methods: { list: 'listAddressBooks' },
  },
  availability: {
    about: 'The free time of an account.',
    methods: { find: 'findAvailability' },
  },
  experiences: {
    about: 'Flows in which guests book a time of your users.',
    methods: {
      list: 'listExperiences',
      create: 'createExperience',
      get: 'getExperience',
      update: 'updateExperience',
      sendVerificationCode: 'sendVerificationCode',
    },
  },
  slots: {
    about: 'The free times of an experience.',
    methods: { list: 'listSlots' },
  },
  holds: {
    about: 'Slots that are kept for a guest for some minutes.',
    methods: { create: 'createHold' },
  },
  bookings: {
    about: 'The bookings of guests.',
    methods: {
      list: 'listBookings',
      create: 'createBooking',
      get: 'getBooking',
      update: 'updateBooking',
      cancel: 'cancelBooking',
      reschedule: 'rescheduleBooking',
    },
  },
  schedulerQueue: {
    about: 'The work that follows from bookings.',
    methods: {
      getStatus: 'getSchedulerQueueStatus',
      listJobs: 'listSchedulerJobs',
      retryJob: 'retrySchedulerJob',
      cancelJob: 'cancelSchedulerJob',
    },
  },
  endpoints: {
    about: 'Webhook endpoints: addresses of your application that receive events.',
    methods: {
      list: 'listWebhookEndpoints',
      create: 'createWebhookEndpoint',
      get: 'getWebhookEndpoint',
      update: 'updateWebhookEndpoint',
      delete: 'deleteWebhookEndpoint',
      test: 'testWebhookEndpoint',
      recover: 'recoverWebhookEndpoint',
      sendTestMessage: 'sendTestMessage',
      sendTestEvent: 'sendTestEvent',
    },
  },
  deliveries: {
    about: 'Webhook deliveries: one event for one endpoint, with all attempts.',
    methods: { list: 'listDeliveries', get: 'getDelivery', retry: 'retryDelivery' },
  },
  events: {
    about: 'All recorded events.',
    methods: { list: 'listEvents', get: 'getEvent', resend: 'resendEvent', stream: 'streamEvents' },
  },
  deduplication: {
    about: 'Which events count as duplicates.',
    methods: {
      getConfig: 'getDeduplicationConfig',
      updateConfig: 'updateDeduplicationConfig',
      test: 'testDeduplication',
    },
  },
  historicalSync: {
    about: 'Reads the older mail of accounts in the background.',
    methods: {
      list: 'listHistoricalSyncs',
      get: 'getHistoricalSync',
      start: 'startHistoricalSync',
      pause: 'pauseHistoricalSync',
      resume: 'resumeHistoricalSync',
      restart: 'restartHistoricalSync',
      cancel: 'cancelHistoricalSync',
      getConfig: 'getHistoricalSyncConfig',
      updateConfig: 'updateHistoricalSyncConfig',
    },
  },
  debouncedQueue: {
    about: 'Which accounts wait for a sync.',
    methods: {
      getStatus: 'getDebouncedQueueStatus',
      getAccount: 'getDebouncedQueueAccount',
      clear: 'clearDebouncedQueue',
    },
  },
  apiKeys: {
    about: 'API keys with fewer rights.',
    methods: { list: 'listApiKeys', create: 'createApiKey', get: 'getApiKey', revoke: 'revokeApiKey' },
  },
  audit: {
    about: 'Who changed what.',
    methods: { list: 'listAuditEntries' },
  },
  logs: {
    about: 'The log of the service.',
    methods: { list: 'listLogs', stream: 'streamLogs' },
  },
  health: {
    about: 'Whether the service works.',
    methods: {
      get: 'getHealth',
      getDetailed: 'getDetailedHealth',
      getLiveness: 'getLiveness',
      getReadiness: 'getReadiness',
      getInstance: 'getInstance',
    },
  },
  metrics: {
    about: 'Metrics for Prometheus.',
    methods: { get: 'getMetrics' },
  },
  settings: {
    about: 'The settings of the service.',
    methods: { list: 'listSettings' },
  },
  encryptionKeys: {
    about: 'The keys that seal stored secrets.',
    methods: {
      list: 'listEncryptionKeys',
      create: 'createEncryptionKey',
      promote: 'promoteEncryptionKey',
      reseal: 'resealSecrets',
    },
  },
  providers: {
    about: 'Google, Microsoft and IMAP as they are configured, and what they send to the service.',
    methods: {
      validate: 'validateProvider',
      receiveMicrosoftNotifications: 'receiveMicrosoftNotifications',
      receiveMicrosoftLifecycleNotifications: 'receiveMicrosoftLifecycleNotifications',
      receiveGoogleCalendarNotifications: 'receiveGoogleCalendarNotifications',
    },
  },
  openapi: {
    about: 'The OpenAPI document of the service.',
    methods: { get: 'getOpenApiDocument' },
  },
}

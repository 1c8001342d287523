/** The objects of the API, by the names that the pages use. */
export type { Activity, ActivityPeriod } from '../../../operations/portal-api/activity/api.ts'
export type { Appearance } from '../../../operations/portal-api/appearance/api.ts'
export type { BookingCounts } from '../../../operations/portal-api/bookings/api.ts'
export type { AccountNames } from '../../../operations/portal-api/events/api.ts'
export type { AccountFolders } from '../../../operations/portal-api/folders/api.ts'
export type { Overview, Rates } from '../../../operations/portal-api/overview/api.ts'
export type { ProviderSetup, ProviderSetups } from '../../../operations/portal-api/providers/api.ts'
export type { QueuedAccount } from '../../../operations/portal-api/queue/api.ts'
export type {
  Account,
  AddressBook,
  ApiKey,
  AuditEntry,
  Backfill,
  BackfillConfig,
  Booking,
  BookingForm,
  BookingFormField as FormField,
  Calendar,
  CalendarEvent,
  CallbackEndpoint,
  Connection,
  Contact,
  CreatedApiKey,
  DebouncedQueueAccount,
  DebouncedQueueStatus,
  DetailedHealth as Health,
  DirectoryUser,
  Draft,
  Event as FeedEvent,
  Experience,
  ExperienceAvailability as Availability,
  Label,
  List,
  LogEntry,
  Message,
  MessageDetail,
  OpenHours,
  OutboxMessage,
  Pagination,
  ProviderValidation,
  RoutingRule,
  SchedulerJob,
  SchedulerQueueStatus,
  Setting,
  SlotList,
  WebhookDelivery as Delivery,
  WebhookEndpoint as Endpoint,
} from '../../generated/api-objects.ts'

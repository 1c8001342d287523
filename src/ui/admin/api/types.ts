/** The objects of the API, by the names that the pages use. */
export type { Appearance } from '../../../features/admin/appearance/api.ts'
export type { BookingCounts } from '../../../features/admin/bookings/api.ts'
export type { Overview, Rates } from '../../../features/admin/overview/api.ts'
export type { ProviderSetup, ProviderSetups } from '../../../features/admin/providers/api.ts'
export type { QueuedAccount } from '../../../features/admin/queue/api.ts'
export type {
  Account,
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
  CreatedApiKey,
  DebouncedQueueAccount,
  DebouncedQueueStatus,
  DetailedHealth as Health,
  Draft,
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
} from './schemas.ts'

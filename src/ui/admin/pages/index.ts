import type { ComponentType } from 'react'
import {
  type Icon,
  IconActivity,
  IconBell,
  IconBuilding,
  IconCalendar,
  IconCalendarClock,
  IconFilePen,
  IconHistory,
  IconInbox,
  IconKeyRound,
  IconLayoutDashboard,
  IconListChecks,
  IconPalette,
  IconPlug,
  IconScrollText,
  IconSend,
  IconSettings,
  IconShieldCheck,
  IconWebhook,
} from '../parts/icons.tsx'

/** The groups of the navigation, in its order. The first has no heading. */
export const GROUPS = ['Home', 'Mailboxes', 'Events and webhooks', 'Scheduling', 'Operation', 'Configuration'] as const

interface PageEntry {
  /** Its address below `/admin`. Parameters (`:accountId`) become properties of the component. */
  path: string
  title: string
  /** Where the navigation shows it. Pages of one object have none. */
  group?: (typeof GROUPS)[number]
  icon?: Icon
  /** Further words by which the command palette finds it. */
  keywords?: string
  /** Loaded when it is first shown. Its default export is a component that returns a `Page`. */
  // biome-ignore lint/suspicious/noExplicitAny: the properties are the parameters of the path.
  load(): Promise<{ default: ComponentType<any> }>
}

/** Every page. A page is a folder beside this file and imports nothing from the other folders here. */
export const PAGES: readonly PageEntry[] = [
  {
    path: '/',
    title: 'Overview',
    group: 'Home',
    icon: IconLayoutDashboard,
    keywords: 'health status start home charts',
    load: () => import('./overview/overview.tsx'),
  },
  {
    path: '/accounts',
    title: 'Accounts',
    group: 'Mailboxes',
    icon: IconInbox,
    keywords: 'mailboxes connect',
    load: () => import('./accounts/accounts.tsx'),
  },
  { path: '/accounts/:accountId', title: 'Account', load: () => import('./accounts/account.tsx') },
  {
    path: '/connections',
    title: 'Connections',
    group: 'Mailboxes',
    icon: IconBuilding,
    keywords: 'tenant organisation workspace service account application permissions directory users',
    load: () => import('./connections/connections.tsx'),
  },
  { path: '/connections/:connectionId', title: 'Connection', load: () => import('./connections/connection.tsx') },
  {
    path: '/outbox',
    title: 'Drafts and outbox',
    group: 'Mailboxes',
    icon: IconFilePen,
    keywords: 'sent sending uncertain scheduled messages',
    load: () => import('./outbox/outbox.tsx'),
  },
  {
    path: '/backfills',
    title: 'Backfills',
    group: 'Mailboxes',
    icon: IconHistory,
    keywords: 'historical sync older mail progress pause resume restart',
    load: () => import('./backfills/backfills.tsx'),
  },
  {
    path: '/events',
    title: 'Events',
    group: 'Events and webhooks',
    icon: IconBell,
    keywords: 'feed replay without subscriber history',
    load: () => import('./events/events.tsx'),
  },
  { path: '/events/:eventId', title: 'Event', load: () => import('./events/event.tsx') },
  {
    path: '/webhooks',
    title: 'Webhooks',
    group: 'Events and webhooks',
    icon: IconWebhook,
    keywords: 'endpoints secret',
    load: () => import('./webhooks/webhooks.tsx'),
  },
  { path: '/webhooks/:endpointId', title: 'Webhook endpoint', load: () => import('./webhooks/endpoint.tsx') },
  {
    path: '/deliveries',
    title: 'Deliveries',
    group: 'Events and webhooks',
    icon: IconSend,
    keywords: 'attempts retry recover failed',
    load: () => import('./deliveries/deliveries.tsx'),
  },
  { path: '/deliveries/:deliveryId', title: 'Delivery', load: () => import('./deliveries/delivery.tsx') },
  {
    path: '/scheduler',
    title: 'Scheduler',
    group: 'Scheduling',
    icon: IconCalendarClock,
    keywords: 'experiences open hours booking page widget embed form routing',
    load: () => import('./scheduler/scheduler.tsx'),
  },
  { path: '/scheduler/:slug', title: 'Experience', load: () => import('./scheduler/experience.tsx') },
  {
    path: '/bookings',
    title: 'Bookings',
    group: 'Scheduling',
    icon: IconCalendar,
    keywords: 'calendar week guests meetings reschedule cancel',
    load: () => import('./bookings/bookings.tsx'),
  },
  { path: '/bookings/:bookingId', title: 'Booking', load: () => import('./bookings/booking.tsx') },
  {
    path: '/booking-jobs',
    title: 'Booking jobs',
    group: 'Scheduling',
    icon: IconListChecks,
    keywords: 'scheduler queue reminders tasks retry',
    load: () => import('./bookings/jobs.tsx'),
  },
  {
    path: '/logs',
    title: 'Sync logs',
    group: 'Operation',
    icon: IconScrollText,
    keywords: 'errors records tail',
    load: () => import('./logs/logs.tsx'),
  },
  {
    path: '/queue',
    title: 'Queue',
    group: 'Operation',
    icon: IconActivity,
    keywords: 'sync lag debounced waiting delayed clear',
    load: () => import('./queue/queue.tsx'),
  },
  {
    path: '/audit',
    title: 'Audit',
    group: 'Operation',
    icon: IconShieldCheck,
    keywords: 'log who changed actor sign in',
    load: () => import('./audit/audit.tsx'),
  },
  {
    path: '/providers',
    title: 'Providers',
    group: 'Configuration',
    icon: IconPlug,
    keywords: 'google gmail microsoft imap oauth redirect scopes validate',
    load: () => import('./providers/providers.tsx'),
  },
  {
    path: '/appearance',
    title: 'Appearance',
    group: 'Configuration',
    icon: IconPalette,
    keywords: 'branding logo colour hosted pages',
    load: () => import('./appearance/appearance.tsx'),
  },
  {
    path: '/api-keys',
    title: 'API keys',
    group: 'Configuration',
    icon: IconKeyRound,
    keywords: 'scopes create revoke secret',
    load: () => import('./keys/keys.tsx'),
  },
  {
    path: '/settings',
    title: 'Settings',
    group: 'Configuration',
    icon: IconSettings,
    keywords: 'configuration environment variables source effective',
    load: () => import('./settings/settings.tsx'),
  },
]

/** The page of the navigation that shows this address, or an object of it. */
export function findPage(location: string): PageEntry | undefined {
  return PAGES.filter(
    ({ group, path }) =>
      group !== undefined && (path === location || (path !== '/' && location.startsWith(`${path}/`))),
  ).at(0)
}

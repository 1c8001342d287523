import type { Page } from 'playwright-core'
import type { PortalStage } from './portal-stage.ts'

export interface PortalPage {
  name: string
  path(stage: PortalStage): string
  heading: string | RegExp
  /** Something that is shown once the page has its data. */
  shows(page: Page): ReturnType<Page['locator']>
}

const text = (content: string | RegExp) => (page: Page) => page.getByText(content).first()

/** Every page, as it is with the data of the stage. */
export const PORTAL_PAGES: readonly PortalPage[] = [
  { name: 'overview', path: () => '', heading: 'Overview', shows: text('1 account needs a sign-in') },
  { name: 'accounts', path: () => '/accounts', heading: 'Accounts', shows: text('grace@acme.example') },
  { name: 'connect', path: () => '/accounts?connect=1', heading: 'Accounts', shows: text('Create the link') },
  {
    name: 'account',
    path: ({ accounts }) => `/accounts/${accounts.ada}`,
    heading: 'ada@acme.example',
    shows: text('The lease is signed'),
  },
  {
    name: 'account that is refused',
    path: ({ accounts }) => `/accounts/${accounts.rejected}`,
    heading: 'linus@acme.example',
    shows: text('The provider refuses the credentials'),
  },
  {
    name: 'folders',
    path: ({ accounts }) => `/accounts/${accounts.ada}?tab=labels`,
    heading: 'ada@acme.example',
    shows: text('Archive'),
  },
  {
    name: 'calendars',
    path: ({ accounts }) => `/accounts/${accounts.ada}?tab=calendars`,
    heading: 'ada@acme.example',
    shows: text('Work'),
  },
  {
    name: 'address books',
    path: ({ accounts }) => `/accounts/${accounts.ada}?tab=contacts`,
    heading: 'ada@acme.example',
    shows: text('People'),
  },
  { name: 'webhooks', path: () => '/webhooks', heading: 'Webhooks', shows: text('/hooks/posthorn') },
  { name: 'new endpoint', path: () => '/webhooks?create=1', heading: 'Webhooks', shows: text('Sign the requests') },
  {
    name: 'endpoint',
    path: ({ endpoints }) => `/webhooks/${endpoints.working}`,
    heading: /hooks\/posthorn/,
    shows: text('X-Environment'),
  },
  {
    name: 'inactive endpoint',
    path: ({ endpoints }) => `/webhooks/${endpoints.inactive}`,
    heading: /\/old/,
    shows: text('This endpoint is inactive'),
  },
  { name: 'events', path: () => '/events', heading: 'Events', shows: text('mailbox.changed') },
  { name: 'deliveries', path: () => '/deliveries', heading: 'Deliveries', shows: text('message.sent') },
  { name: 'recovery', path: () => '/deliveries?recover=1', heading: 'Deliveries', shows: text('In your time zone') },
  { name: 'outbox', path: () => '/outbox', heading: 'Drafts and outbox', shows: text('Reminder: workshop') },
  {
    name: 'uncertain message',
    path: ({ outbox }) => `/outbox?open=${outbox.uncertain}`,
    heading: 'Drafts and outbox',
    shows: text('It arrived'),
  },
  {
    name: 'drafts',
    path: ({ accounts }) => `/outbox?tab=drafts&accountId=${accounts.grace}`,
    heading: 'Drafts and outbox',
    shows: text('Dinner on Thursday'),
  },
  { name: 'logs', path: () => '/logs', heading: 'Sync logs', shows: (page) => page.locator('[data-row]').first() },
  { name: 'unknown page', path: () => '/nothing', heading: 'Page not found', shows: text('Open the overview') },
]

import * as Type from 'typebox'
import { nullable } from '../../../platform/formats/json-schema.ts'
import { type App, done, type Idempotency } from '../../../platform/http/index.ts'
import { labelSchema, labelView } from '../api.ts'
import type { LabelChanger } from './changer.ts'

const WRITE = { access: 'key:write' } as const
const TAGS = ['Labels']
const accountParams = Type.Object({ accountId: Type.String({ description: 'An account id, or its customUserId.' }) })
const labelParams = Type.Object({
  ...accountParams.properties,
  labelId: Type.String({ description: "Its id, or the provider's." }),
})

const name = Type.String({
  minLength: 1,
  maxLength: 500,
  description:
    'The full name: `Work/Clients`. Missing parents are created. For imap the path, with the delimiter of the mail server.',
})
const displayName = Type.String({
  minLength: 1,
  maxLength: 500,
  description: 'Kept by this service when it differs from the last segment of the name.',
})
const color = Type.String({
  maxLength: 256,
  description:
    'Any text; responses return it as it was given. Gmail shows the nearest colour of its palette for hexadecimal colours (`#16a765`, `#f00`) and names of CSS (`tomato`). Everything else is kept by this service, as every colour is for imap and microsoft, which have none.',
  examples: ['#16a765'],
})

export function labelChangeRoutes(
  app: App,
  { changer, idempotency }: { changer: LabelChanger; idempotency: Idempotency },
): void {
  app.post(
    '/accounts/:accountId/labels',
    {
      config: WRITE,
      schema: {
        tags: TAGS,
        operationId: 'createLabel',
        errors: [502, 504],
        summary: 'Create a label or folder',
        params: accountParams,
        body: Type.Object({ name, displayName, color: Type.Optional(nullable(color)) }),
        response: { 200: Type.Object({ ...done.properties, label: labelSchema }) },
      },
    },
    idempotency.writing(async (request) => {
      const { color, ...body } = request.body
      const label = await changer.create(request.params.accountId, { ...body, color: color ?? undefined })
      return async () => ({ success: true, message: 'The label was created.', label: labelView(label) })
    }),
  )

  app.patch(
    '/accounts/:accountId/labels/:labelId',
    {
      config: WRITE,
      schema: {
        tags: TAGS,
        operationId: 'updateLabel',
        errors: [502, 504],
        summary: 'Rename, move or colour a label',
        description:
          'Labels below it are renamed with it. Labels of type "system" cannot be changed (409 not_supported).',
        params: labelParams,
        body: Type.Object({
          name: Type.Optional(name),
          displayName: Type.Optional(displayName),
          color: Type.Optional(nullable(color)),
        }),
        response: { 200: labelSchema },
      },
    },
    async (request) => {
      const { accountId, labelId } = request.params
      return labelView(await changer.change(accountId, labelId, request.body))
    },
  )

  app.delete(
    '/accounts/:accountId/labels/:labelId',
    {
      config: WRITE,
      schema: {
        tags: TAGS,
        operationId: 'deleteLabel',
        errors: [502, 504],
        summary: 'Delete a label or folder',
        description:
          'At Gmail its messages stay without the label. Microsoft moves a folder to Deleted Items; an IMAP server deletes it with its messages.',
        params: labelParams,
        response: { 200: done },
      },
    },
    async (request) => {
      await changer.remove(request.params.accountId, request.params.labelId)
      return { success: true, message: 'The label was deleted.' }
    },
  )

  app.post(
    '/accounts/:accountId/labels/sync',
    {
      config: WRITE,
      schema: {
        tags: TAGS,
        operationId: 'syncLabels',
        errors: [502, 504],
        summary: 'Refresh the labels from the provider',
        description: 'Reads the labels from the provider now. Sync does so by itself every few minutes.',
        params: accountParams,
        response: { 200: done },
      },
    },
    idempotency.writing(async (request) => {
      await changer.refresh(request.params.accountId)
      return async () => ({ success: true, message: 'The labels were read from the provider.' })
    }),
  )

  app.post(
    '/accounts/:accountId/labels/cache/clear',
    {
      config: WRITE,
      schema: {
        tags: TAGS,
        operationId: 'clearLabelCache',
        summary: 'Clear the cached labels',
        description: 'The next list of labels reads them from the provider first. Labels keep their ids.',
        params: accountParams,
        response: { 200: done },
      },
    },
    idempotency.writing(async (request) => {
      await changer.clear(request.params.accountId)
      return async () => ({ success: true, message: 'The cached labels were cleared.' })
    }),
  )
}

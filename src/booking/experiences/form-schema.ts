import type { TProperties } from 'typebox'
import * as Type from 'typebox'
import { documented, documentedDefault } from '../../platform/formats/json-schema.ts'
import { kept } from './schema-parts.ts'

const option = Type.Object(
  { value: Type.String({ minLength: 1, maxLength: 500 }), label: Type.String({ minLength: 1, maxLength: 500 }) },
  kept,
)

const formField = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100, description: 'Unique. The member of `responses`.' }),
    label: Type.String({ minLength: 1, maxLength: 500 }),
    type: Type.Enum(['text', 'email', 'phone', 'textarea', 'select', 'multiselect', 'checkbox']),
    required: Type.Optional(Type.Boolean(documentedDefault(false))),
    placeholder: Type.Optional(Type.String({ maxLength: 500 })),
    options: Type.Optional(Type.Array(option, { maxItems: 200, description: 'Required for select and multiselect.' })),
  },
  { title: 'BookingFormField', ...kept },
)

const answer = Type.Union([Type.String({ maxLength: 500 }), Type.Boolean()])

const routingRule = Type.Object(
  {
    when: Type.Object(
      {
        field: Type.String({ description: 'Name of a field of the form.' }),
        equals: Type.Optional(answer),
        in: Type.Optional(Type.Array(answer, { minItems: 1, maxItems: 200 })),
      },
      { description: 'Either `equals` or `in`. Of a multiselect, one chosen value must match.', ...kept },
    ),
    accountIds: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 100, uniqueItems: true })),
    slug: Type.Optional(Type.String({ description: 'Another experience.' })),
    redirectUrl: Type.Optional(Type.String({ maxLength: 2048 })),
  },
  {
    title: 'RoutingRule',
    description: 'Leads to hosts, to another experience, or to a page: exactly one of them.',
    ...kept,
    ...documented({
      oneOf: [{ required: ['accountIds'] }, { required: ['slug'] }, { required: ['redirectUrl'] }],
    }),
  },
)

export const formMembers = {
  title: Type.Optional(Type.String({ maxLength: 500 })),
  description: Type.Optional(Type.String({ maxLength: 5000 })),
  submitButtonLabel: Type.Optional(Type.String({ maxLength: 100 })),
  fields: Type.Optional(Type.Array(formField, { maxItems: 50 })),
  verifyEmail: Type.Optional(
    Type.Boolean({
      description: 'A guest must enter a code that is sent to the address.',
      ...documentedDefault(false),
    }),
  ),
} satisfies TProperties

export const bookingForm = Type.Object(
  {
    ...formMembers,
    routing: Type.Optional(
      Type.Array(routingRule, {
        maxItems: 100,
        description: 'Chooses hosts by the answers. The first rule that matches applies. Never shown to guests.',
      }),
    ),
  },
  { title: 'BookingForm', ...kept },
)

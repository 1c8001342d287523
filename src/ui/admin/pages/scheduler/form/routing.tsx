import { ActionIcon, Alert, Button, Group, Paper, Select, Stack, TagsInput, Text, TextInput } from '@mantine/core'
import type { FormField, RoutingRule } from '../../../api/types.ts'
import { AccountsField } from '../../../parts/account-picker.tsx'
import { IconArrowDown, IconArrowUp, IconPlus, IconTrash } from '../../../parts/icons.tsx'
import { Section } from '../../../parts/section.tsx'
import { changed, withMoved } from '../draft.ts'

type Target = 'accountIds' | 'slug' | 'redirectUrl'
const TARGETS: Readonly<Record<Target, string>> = {
  accountIds: 'these hosts',
  slug: 'another experience',
  redirectUrl: 'a page',
}

/** Which answers lead to other hosts, another experience or a page. */
export function Routing({
  fields,
  rules,
  onChange,
}: {
  fields: readonly FormField[]
  rules: readonly RoutingRule[]
  onChange(rules: RoutingRule[]): void
}) {
  const set = (index: number, rule: RoutingRule) =>
    onChange(rules.map((existing, at) => (at === index ? rule : existing)))
  return (
    <Section
      title="Routing"
      description="The first rule whose answer matches applies. Guests never see the rules."
      actions={
        <Button
          variant="default"
          leftSection={<IconPlus size={16} />}
          disabled={fields.length === 0}
          onClick={() => onChange([...rules, { when: { field: fields[0]?.name ?? '', equals: '' }, redirectUrl: '' }])}
        >
          Add a rule
        </Button>
      }
    >
      <Stack>
        {rules.length === 0 && (
          <Text size="sm" c="dimmed">
            {fields.length === 0
              ? 'Add a question first: rules depend on answers.'
              : 'All guests book with the hosts of this experience.'}
          </Text>
        )}
        {rules.map((rule, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a rule has no other identity.
          <Paper key={index} withBorder p="md" role="group" aria-label={`Rule ${index + 1}`}>
            <Group justify="flex-end" gap={4} mb={4}>
              <Text size="sm" fw={550} me="auto">
                Rule {index + 1}
              </Text>
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={`Move rule ${index + 1} up`}
                disabled={index === 0}
                onClick={() => onChange(withMoved(rules, index, index - 1))}
              >
                <IconArrowUp size={16} />
              </ActionIcon>
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={`Move rule ${index + 1} down`}
                disabled={index === rules.length - 1}
                onClick={() => onChange(withMoved(rules, index, index + 1))}
              >
                <IconArrowDown size={16} />
              </ActionIcon>
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={`Remove rule ${index + 1}`}
                onClick={() => onChange(rules.filter((_, at) => at !== index))}
              >
                <IconTrash size={16} />
              </ActionIcon>
            </Group>
            <Rule fields={fields} rule={rule} onChange={(next) => set(index, next)} />
          </Paper>
        ))}
      </Stack>
    </Section>
  )
}

function Rule({
  fields,
  rule,
  onChange,
}: {
  fields: readonly FormField[]
  rule: RoutingRule
  onChange(rule: RoutingRule): void
}) {
  const field = fields.find(({ name }) => name === rule.when.field)
  const isCheckbox = field?.type === 'checkbox'
  const answers = (rule.when.in ?? [rule.when.equals ?? '']).map(String).filter((answer) => answer !== '')
  const setAnswers = (texts: readonly string[]) => {
    const { equals, in: several, ...when } = rule.when
    const values = texts.map((text) => (isCheckbox ? text === 'true' : text))
    const [first = isCheckbox ? true : ''] = values
    onChange({ ...rule, when: { ...when, ...(values.length > 1 ? { in: values } : { equals: first }) } })
  }
  const target: Target =
    rule.slug !== undefined ? 'slug' : rule.redirectUrl !== undefined ? 'redirectUrl' : 'accountIds'
  const setTarget = (name: Target, value: string | string[]) =>
    onChange({ ...changed(rule, { accountIds: undefined, slug: undefined, redirectUrl: undefined }), [name]: value })
  return (
    <Stack gap="sm">
      {field === undefined && <Alert color="orange">The question of this rule no longer exists.</Alert>}
      <Group grow align="flex-start">
        <Select
          label="If the answer to"
          allowDeselect={false}
          data={fields
            .filter(({ name }, index) => fields.findIndex((field) => field.name === name) === index)
            .map(({ name, label }) => ({ value: name, label: label || name }))}
          value={rule.when.field}
          onChange={(name) => {
            const isYes = fields.find((field) => field.name === name)?.type === 'checkbox'
            onChange({ ...rule, when: { field: name ?? '', equals: isYes ? true : '' } })
          }}
        />
        {isCheckbox ? (
          <Select
            label="is"
            allowDeselect={false}
            data={[
              { value: 'true', label: 'checked' },
              { value: 'false', label: 'not checked' },
            ]}
            value={String(rule.when.equals ?? true)}
            onChange={(value) => setAnswers([value ?? 'true'])}
          />
        ) : (
          <TagsInput
            label="is one of"
            acceptValueOnBlur
            data={(field?.options ?? []).map(({ value }) => value)}
            value={answers}
            onChange={setAnswers}
          />
        )}
      </Group>
      <Group grow align="flex-start">
        <Select
          label="then book with"
          allowDeselect={false}
          data={Object.entries(TARGETS).map(([value, label]) => ({ value, label }))}
          value={target}
          onChange={(name) => setTarget(name as Target, name === 'accountIds' ? [] : '')}
        />
        {target === 'accountIds' && (
          <AccountsField label="Hosts" value={rule.accountIds ?? []} onChange={(ids) => setTarget('accountIds', ids)} />
        )}
        {target === 'slug' && (
          <TextInput
            label="Slug of the experience"
            placeholder="sales-call"
            value={rule.slug ?? ''}
            onChange={(event) => setTarget('slug', event.currentTarget.value)}
          />
        )}
        {target === 'redirectUrl' && (
          <TextInput
            label="URL of the page"
            placeholder="https://www.example.com/contact"
            value={rule.redirectUrl ?? ''}
            onChange={(event) => setTarget('redirectUrl', event.currentTarget.value)}
          />
        )}
      </Group>
    </Stack>
  )
}

import { ActionIcon, Button, Checkbox, Collapse, Group, Paper, Select, Stack, Text, TextInput } from '@mantine/core'
import type { FormField } from '../../../api/types.ts'
import {
  IconArrowDown,
  IconArrowUp,
  IconChevronDown,
  IconGripVertical,
  IconPlus,
  IconTrash,
} from '../../../parts/icons.tsx'
import { changed } from '../draft.ts'

const TYPES: Readonly<Record<FormField['type'], string>> = {
  text: 'Short text',
  textarea: 'Long text',
  email: 'Email address',
  phone: 'Phone number',
  select: 'One of several',
  multiselect: 'Some of several',
  checkbox: 'Checkbox',
}
const isType = (value: string | null): value is FormField['type'] => value !== null && Object.hasOwn(TYPES, value)
const isChoice = ({ type }: Pick<FormField, 'type'>) => type === 'select' || type === 'multiselect'

interface FieldEditorProps {
  field: FormField
  isOpen: boolean
  isDragged: boolean
  position: { index: number; count: number }
  onToggle(): void
  onChange(field: FormField): void
  onRemove(): void
  onMove(to: number): void
  onDragStart(): void
  onDragEnd(): void
  /** Another question is dragged over this one. */
  onDragOver(): void
}

/** One question: its summary, and its members when it is open. It is moved with its handle, or with the arrow buttons. */
export function FieldEditor(props: FieldEditorProps) {
  const { field, isOpen, isDragged, position, onToggle, onChange, onRemove, onMove } = props
  const { index, count } = position
  const change = (changes: { [Name in keyof FormField]?: FormField[Name] | undefined }) =>
    onChange(changed(field, changes))
  return (
    <Paper
      component="li"
      withBorder
      p="xs"
      className="question"
      data-dragged={isDragged || undefined}
      onDragOver={(event) => {
        event.preventDefault()
        props.onDragOver()
      }}
      onDrop={(event) => event.preventDefault()}
    >
      <Group wrap="nowrap" gap={6}>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the arrow buttons do the same with the keyboard. */}
        <span
          className="handle"
          draggable
          onDragStart={(event) => {
            event.dataTransfer.effectAllowed = 'move'
            event.dataTransfer.setData('text/plain', '')
            props.onDragStart()
          }}
          onDragEnd={props.onDragEnd}
        >
          <IconGripVertical size={16} />
        </span>
        <button type="button" className="row-link question-summary" aria-expanded={isOpen} onClick={onToggle}>
          <Text span size="sm" fw={550} className="truncate">
            {field.label || 'Without a label'}
          </Text>
          <Text span size="xs" c="dimmed">
            {TYPES[field.type]}
            {field.required === true && ', required'}
          </Text>
        </button>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={`Move ${field.label} up`}
          disabled={index === 0}
          onClick={() => onMove(index - 1)}
        >
          <IconArrowUp size={16} />
        </ActionIcon>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={`Move ${field.label} down`}
          disabled={index === count - 1}
          onClick={() => onMove(index + 1)}
        >
          <IconArrowDown size={16} />
        </ActionIcon>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={`${isOpen ? 'Close' : 'Edit'} ${field.label}`}
          onClick={onToggle}
        >
          <IconChevronDown size={16} />
        </ActionIcon>
      </Group>
      <Collapse expanded={isOpen}>
        <Stack gap="sm" p="xs">
          <TextInput
            label="Label"
            maxLength={500}
            value={field.label}
            onChange={(event) => change({ label: event.currentTarget.value })}
          />
          <Group grow align="flex-start">
            <Select
              label="Kind"
              allowDeselect={false}
              data={Object.entries(TYPES).map(([value, label]) => ({ value, label }))}
              value={field.type}
              onChange={(type) => {
                if (!isType(type)) return
                const options = isChoice({ type }) ? (field.options ?? [{ value: 'a', label: 'A' }]) : undefined
                change({ type, options })
              }}
            />
            <TextInput
              label="Name"
              description="In the answers that your application gets"
              inputWrapperOrder={['label', 'input', 'description']}
              maxLength={100}
              value={field.name}
              onChange={(event) => change({ name: event.currentTarget.value })}
            />
          </Group>
          {!isChoice(field) && field.type !== 'checkbox' && (
            <TextInput
              label="Placeholder"
              maxLength={500}
              value={field.placeholder ?? ''}
              onChange={(event) => change({ placeholder: event.currentTarget.value || undefined })}
            />
          )}
          {isChoice(field) && <Options options={field.options ?? []} onChange={(options) => change({ options })} />}
          <Group justify="space-between">
            <Checkbox
              label="Required"
              checked={field.required ?? false}
              onChange={(event) => change({ required: event.currentTarget.checked })}
            />
            <Button
              variant="subtle"
              color="red"
              size="compact-sm"
              leftSection={<IconTrash size={14} />}
              onClick={onRemove}
            >
              Remove the question
            </Button>
          </Group>
        </Stack>
      </Collapse>
    </Paper>
  )
}

type Option = NonNullable<FormField['options']>[number]

function Options({ options, onChange }: { options: readonly Option[]; onChange(options: Option[]): void }) {
  const change = (index: number, changes: Partial<Option>) =>
    onChange(options.map((option, at) => (at === index ? { ...option, ...changes } : option)))
  return (
    <Stack gap={6}>
      <Text size="sm" fw={550}>
        Options
      </Text>
      {options.map(({ value, label }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: values change while they are typed.
        <Group key={index} gap={6} wrap="nowrap">
          <TextInput
            flex={1}
            aria-label={`Label of option ${index + 1}`}
            placeholder="Label"
            maxLength={500}
            value={label}
            onChange={(event) => change(index, { label: event.currentTarget.value })}
          />
          <TextInput
            flex={1}
            aria-label={`Value of option ${index + 1}`}
            placeholder="value"
            maxLength={500}
            value={value}
            onChange={(event) => change(index, { value: event.currentTarget.value })}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            size="lg"
            aria-label={`Remove option ${index + 1}`}
            onClick={() => onChange(options.filter((_, at) => at !== index))}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </Group>
      ))}
      <Button
        variant="default"
        size="compact-sm"
        w="fit-content"
        leftSection={<IconPlus size={14} />}
        onClick={() =>
          onChange([...options, { value: `option${options.length + 1}`, label: `Option ${options.length + 1}` }])
        }
      >
        Add an option
      </Button>
    </Stack>
  )
}

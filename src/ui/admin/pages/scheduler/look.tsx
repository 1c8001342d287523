import {
  ActionIcon,
  Button,
  ColorInput,
  Group,
  SegmentedControl,
  SimpleGrid,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import { IconPlus, IconTrash } from '../../parts/icons.tsx'
import { Section } from '../../parts/section.tsx'
import { asRecord, type PartProps } from './draft.ts'
import { Host } from './host.tsx'

/** With the colours of the usual design, which `src/ui/widget/style/base.css` sets. */
const COLOURS = {
  accent: { label: 'Accent', light: '#4263eb', dark: '#4263eb' },
  background: { label: 'Background', light: '#ffffff', dark: '#16191e' },
  text: { label: 'Text', light: '#14171c', dark: '#eceef2' },
  muted: { label: 'Secondary text', light: '#565f6d', dark: '#a2abb8' },
  border: { label: 'Lines', light: '#e2e5ea', dark: '#282d35' },
}
const OTHERS = {
  radius: { label: 'Corner radius', placeholder: '10px' },
  font: { label: 'Font', placeholder: 'Georgia, serif' },
  shadow: { label: 'Shadow', placeholder: '0 1px 3px #0002' },
}
/** Texts that have fields of their own; further ones are rows. */
const TEXTS = ['title', 'description']

/** Host, layout, colours and texts of the booking page and the widget. */
export function Look({ draft, set }: PartProps) {
  const ui = draft.ui ?? {}
  const [theme, copy] = [asRecord(ui.theme), asRecord(ui.copy)]
  const dark = asRecord(theme.dark)
  const change = (name: 'theme' | 'layout' | 'copy' | 'host', value: unknown) => set({ ui: { ...ui, [name]: value } })
  const setTheme = (name: string, value: unknown) => change('theme', without({ ...theme, [name]: value }))
  const setCopy = (name: string, value: string) => change('copy', without({ ...copy, [name]: value }))
  const setDark = (name: string, value: string) => {
    const next = without({ ...dark, [name]: value })
    setTheme('dark', Object.keys(next).length === 0 ? '' : next)
  }
  return (
    <Stack gap="lg">
      <Host value={ui.host} onChange={(host) => change('host', host)} />
      <Section title="Layout">
        <SegmentedControl
          aria-label="Layout"
          data={[
            { value: 'month', label: 'Month' },
            { value: 'week', label: 'Week' },
          ]}
          value={ui.layout === 'week' ? 'week' : 'month'}
          onChange={(value) => change('layout', value)}
        />
      </Section>
      <Section
        title="Colours and shapes"
        description="Empty fields keep the usual design. The accent is adjusted where text would be hard to read."
      >
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          {Object.entries(COLOURS).map(([name, { label, light }]) => (
            <Colour
              key={name}
              label={label}
              usual={light}
              value={theme[name]}
              onChange={(value) => setTheme(name, value)}
            />
          ))}
          {Object.entries(OTHERS).map(([name, { label, placeholder }]) => (
            <TextInput
              key={name}
              label={label}
              placeholder={placeholder}
              maxLength={200}
              value={asText(theme[name])}
              onChange={(event) => setTheme(name, event.currentTarget.value)}
            />
          ))}
        </SimpleGrid>
        <Text size="sm" fw={550} mt="lg" mb="xs">
          In dark mode
        </Text>
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          {Object.entries(COLOURS)
            .filter(([name]) => name !== 'accent')
            .map(([name, { label, dark: usual }]) => (
              <Colour
                key={name}
                label={`${label}, dark`}
                usual={usual}
                value={dark[name]}
                onChange={(value) => setDark(name, value)}
              />
            ))}
        </SimpleGrid>
      </Section>
      <Section title="Texts" description="They replace those of the page, in every language.">
        <Stack>
          <TextInput
            label="Title"
            placeholder={draft.name}
            value={asText(copy.title)}
            onChange={(event) => setCopy('title', event.currentTarget.value)}
          />
          <Textarea
            label="Description"
            autosize
            placeholder={draft.description}
            value={asText(copy.description)}
            onChange={(event) => setCopy('description', event.currentTarget.value)}
          />
          <Copy copy={copy} onChange={(next) => change('copy', next)} />
        </Stack>
      </Section>
    </Stack>
  )
}

interface ColourProps {
  label: string
  /** Shown while the field is empty. */
  usual: string
  value: unknown
  onChange(value: string): void
}

function Colour({ label, usual, value, onChange }: ColourProps) {
  return (
    <ColorInput
      label={label}
      placeholder={usual}
      popoverProps={{ withinPortal: true }}
      eyeDropperButtonProps={{ 'aria-label': `Pick the colour of ${label.toLowerCase()} from the screen` }}
      value={asText(value)}
      onChange={onChange}
    />
  )
}

/** Texts by their key. Those of one language (objects) are kept, and edited as JSON. */
function Copy({ copy, onChange }: { copy: Record<string, unknown>; onChange(copy: Record<string, unknown>): void }) {
  const entries = Object.entries(copy)
  const rows = entries.filter(([name, value]) => !TEXTS.includes(name) && typeof value === 'string')
  const replace = (name: string, next: [string, string] | undefined) =>
    onChange(
      Object.fromEntries(
        entries.flatMap((entry) => (entry[0] === name ? (next === undefined ? [] : [next]) : [entry])),
      ),
    )
  return (
    <Stack gap={6}>
      <Text size="sm" fw={550}>
        Other texts
      </Text>
      <Text size="xs" c="dimmed">
        By key, such as submit, enterDetails or bookedTitle.
      </Text>
      {rows.map(([name, value], index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: keys change while they are typed.
        <Group key={index} wrap="nowrap" gap={6}>
          <TextInput
            w={180}
            aria-label={`Key of text ${index + 1}`}
            placeholder="submit"
            value={name}
            onChange={(event) => {
              const next = event.currentTarget.value
              if (!Object.hasOwn(copy, next)) replace(name, [next, asText(value)])
            }}
          />
          <TextInput
            flex={1}
            aria-label={`Text ${index + 1}`}
            placeholder="Book now"
            value={asText(value)}
            onChange={(event) => replace(name, [name, event.currentTarget.value])}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            size="lg"
            aria-label={`Remove text ${index + 1}`}
            onClick={() => replace(name, undefined)}
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
        disabled={Object.hasOwn(copy, '')}
        onClick={() => onChange({ ...copy, '': '' })}
      >
        Add a text
      </Button>
    </Stack>
  )
}

const asText = (value: unknown) => (typeof value === 'string' ? value : '')

/** Empty values are those of the usual design. */
function without(members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([name, value]) => value !== '' || name === ''))
}

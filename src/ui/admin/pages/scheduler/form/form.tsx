import { Button, Group, Stack, Switch, Text, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { BookingForm, FormField } from '../../../api/types.ts'
import { IconPlus } from '../../../parts/icons.tsx'
import { Section } from '../../../parts/section.tsx'
import { changed, type PartProps, withMoved } from '../draft.ts'
import { FieldEditor } from './field-editor.tsx'
import { FormPreview } from './preview.tsx'
import { Routing } from './routing.tsx'

/** The questions to guests, and where their answers lead. */
export function Form({ draft, set }: PartProps) {
  const form = draft.bookingForm ?? {}
  const fields = form.fields ?? []
  const [open, setOpen] = useState<number | null>(null)
  const [dragged, setDragged] = useState<number | null>(null)
  const [spoken, setSpoken] = useState('')
  const change = (changes: { [Name in keyof BookingForm]?: BookingForm[Name] | undefined }) =>
    set({ bookingForm: changed(form, changes) })
  const move = (from: number, to: number) => {
    if (to < 0 || to >= fields.length || from === to) return
    change({ fields: withMoved(fields, from, to) })
    setOpen((current) => (current === from ? to : current === to ? from : current))
    setSpoken(`${fields[from]?.label} is now field ${to + 1} of ${fields.length}.`)
  }
  const add = () => {
    const number = fields.length + 1
    const names = fields.map(({ name }) => name)
    const name =
      [`field${number}`, `field${number}-${Date.now()}`].find((candidate) => !names.includes(candidate)) ?? ''
    change({ fields: [...fields, { name, label: `Question ${number}`, type: 'text' }] })
    setOpen(fields.length)
  }
  return (
    <Stack gap="lg">
      <div className="two-columns">
        <Section
          title="Questions"
          description="Name and email address are always asked."
          actions={
            <Button variant="default" leftSection={<IconPlus size={16} />} onClick={add} disabled={fields.length >= 50}>
              Add a question
            </Button>
          }
        >
          <Stack gap="xs" component="ol" className="questions">
            {fields.map((field, index) => (
              <FieldEditor
                // biome-ignore lint/suspicious/noArrayIndexKey: names change while they are typed.
                key={index}
                field={field}
                isOpen={open === index}
                isDragged={dragged === index}
                position={{ index, count: fields.length }}
                onToggle={() => setOpen(open === index ? null : index)}
                onChange={(next: FormField) =>
                  change({ fields: fields.map((field, at) => (at === index ? next : field)) })
                }
                onRemove={() => {
                  change({ fields: fields.filter((_, at) => at !== index) })
                  setOpen(null)
                }}
                onMove={(to) => move(index, to)}
                onDragStart={() => setDragged(index)}
                onDragEnd={() => setDragged(null)}
                onDragOver={() => {
                  if (dragged === null || dragged === index) return
                  move(dragged, index)
                  setDragged(index)
                }}
              />
            ))}
          </Stack>
          {fields.length === 0 && (
            <Text size="sm" c="dimmed">
              No further questions.
            </Text>
          )}
          <span className="visually-hidden" role="status">
            {spoken}
          </span>
        </Section>
        <Section title="Preview" description="As guests see it, in the style of the portal.">
          <FormPreview form={form} />
        </Section>
      </div>
      <Section title="Texts of the form">
        <Stack>
          <Group grow align="flex-start">
            <TextInput
              label="Title"
              placeholder="Your details"
              maxLength={500}
              value={form.title ?? ''}
              onChange={(event) => change({ title: event.currentTarget.value || undefined })}
            />
            <TextInput
              label="Button"
              placeholder="Book"
              maxLength={100}
              value={form.submitButtonLabel ?? ''}
              onChange={(event) => change({ submitButtonLabel: event.currentTarget.value || undefined })}
            />
          </Group>
          <Textarea
            label="Description"
            autosize
            minRows={2}
            maxLength={5000}
            value={form.description ?? ''}
            onChange={(event) => change({ description: event.currentTarget.value || undefined })}
          />
          <Switch
            label="Verify the email address"
            description="Guests enter a code that is sent to their address."
            checked={form.verifyEmail ?? false}
            onChange={(event) => change({ verifyEmail: event.currentTarget.checked })}
          />
        </Stack>
      </Section>
      <Routing fields={fields} rules={form.routing ?? []} onChange={(routing) => change({ routing })} />
    </Stack>
  )
}

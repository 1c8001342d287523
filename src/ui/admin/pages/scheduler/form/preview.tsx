import { Button, Checkbox, MultiSelect, Select, Stack, Text, Textarea, TextInput } from '@mantine/core'
import type { BookingForm, FormField } from '../../../api/types.ts'

/** The form with its unsaved changes. What is typed here goes nowhere. */
export function FormPreview({ form }: { form: BookingForm }) {
  return (
    <Stack gap="sm">
      <Text fw={600}>{form.title || 'Your details'}</Text>
      {form.description !== undefined && (
        <Text size="sm" c="dimmed" className="wrap">
          {form.description}
        </Text>
      )}
      <TextInput label="Name" required autoComplete="off" />
      <TextInput label="Email address" required autoComplete="off" />
      {(form.fields ?? []).map((field, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: names may be equal while they are typed.
        <Question key={`${index} ${field.type}`} field={field} />
      ))}
      <Button mt="xs">{form.submitButtonLabel || 'Book'}</Button>
    </Stack>
  )
}

function Question({ field: { label, type, required = false, placeholder, options = [] } }: { field: FormField }) {
  // Equal values are an error that the service reports; a select would throw.
  const data = options.filter(({ value }, index) => options.findIndex((option) => option.value === value) === index)
  const common = { label: label || 'Without a label', required, placeholder: placeholder ?? '' }
  switch (type) {
    case 'textarea':
      return <Textarea {...common} minRows={3} />
    case 'select':
      return <Select {...common} placeholder="Choose" data={data} />
    case 'multiselect':
      return <MultiSelect {...common} placeholder="Choose" data={data} />
    case 'checkbox':
      return <Checkbox label={`${common.label}${required ? ' *' : ''}`} />
    default:
      return <TextInput {...common} type={type === 'phone' ? 'tel' : type} autoComplete="off" />
  }
}

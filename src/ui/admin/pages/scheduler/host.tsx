import { Avatar, Button, FileButton, Group, Input, SimpleGrid, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { Section } from '../../parts/section.tsx'
import { asRecord } from './draft.ts'
import { PHOTO, scaledPhoto } from './photo.ts'

const MAX_TEXT = 200

interface HostProps {
  /** `ui.host` of the experience. */
  value: unknown
  onChange(host: Record<string, unknown> | undefined): void
}

/** Who the booking page shows beside the experience. Members that the editor does not know stay as they are. */
export function Host({ value, onChange }: HostProps) {
  const host = asRecord(value)
  const [name, title, photo] = [asText(host.name), asText(host.title), asText(host.photo)]
  const set = (member: string, text: string) => {
    const next = Object.fromEntries(Object.entries({ ...host, [member]: text }).filter(([, kept]) => kept !== ''))
    onChange(Object.keys(next).length === 0 ? undefined : next)
  }
  const isNameless = name.trim() === '' && (title !== '' || photo !== '')
  return (
    <Section
      title="Who guests meet"
      description="Shown above the title on the booking page and in the widget. The names and addresses of accounts are never shown."
    >
      <Stack>
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <TextInput
            label="Name"
            description="A person, a team or a company."
            placeholder="Ada Okafor"
            maxLength={MAX_TEXT}
            error={isNameless && 'Enter a name. Without one the page shows nobody.'}
            value={name}
            onChange={(event) => set('name', event.currentTarget.value)}
          />
          <TextInput
            label="Role"
            description="Optional. The line below the name."
            placeholder="Customer success"
            maxLength={MAX_TEXT}
            value={title}
            onChange={(event) => set('title', event.currentTarget.value)}
          />
        </SimpleGrid>
        <Photo name={name} photo={photo} onChange={(next) => set('photo', next)} />
      </Stack>
    </Section>
  )
}

function Photo({ name, photo, onChange }: { name: string; photo: string; onChange(photo: string): void }) {
  const [problem, setProblem] = useState<string>()
  const isShown = PHOTO.test(photo)
  const choose = (file: File | null) => {
    if (file === null) return
    setProblem(undefined)
    scaledPhoto(file).then(onChange, () =>
      setProblem(`${file.name} is not an image that this browser can read. Choose a PNG, JPEG or WebP.`),
    )
  }
  const unusable = photo !== '' && !isShown && 'The page shows a PNG, JPEG or WebP as a data: URL only. Choose a file.'
  return (
    <Input.Wrapper
      label="Photo or logo"
      labelElement="div"
      description="Shown as a circle; without it the first letter of the name is. The image is scaled down and stored with the experience."
      error={problem ?? unusable}
    >
      <Group gap="sm" mt="xs">
        <Avatar size={44} src={isShown ? photo : null} alt={isShown ? 'The photo or logo' : ''} color="indigo">
          {[...name.trim()][0]}
        </Avatar>
        <FileButton accept="image/png,image/jpeg,image/webp" onChange={choose}>
          {(props) => (
            <Button {...props} variant="default">
              {photo === '' ? 'Choose an image' : 'Replace the image'}
            </Button>
          )}
        </FileButton>
        {photo !== '' && (
          <Button
            variant="subtle"
            color="gray"
            onClick={() => {
              setProblem(undefined)
              onChange('')
            }}
          >
            Remove
          </Button>
        )}
      </Group>
    </Input.Wrapper>
  )
}

const asText = (value: unknown) => (typeof value === 'string' ? value : '')

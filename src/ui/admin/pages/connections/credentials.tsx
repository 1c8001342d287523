import {
  Button,
  FileButton,
  Group,
  PasswordInput,
  SegmentedControl,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import type { ApiError } from '../../api/client.ts'
import type { Connection } from '../../api/types.ts'
import { fieldError } from '../../parts/field-errors.tsx'

/** The secret of a connection, as it is typed. */
export interface Credentials {
  kind: 'secret' | 'certificate'
  clientSecret: string
  privateKey: string
  certificate: string
  serviceAccountKey: string
}

export const NO_CREDENTIALS: Credentials = {
  kind: 'secret',
  clientSecret: '',
  privateKey: '',
  certificate: '',
  serviceAccountKey: '',
}

/** The members of the API's body. */
export function credentialFields(provider: Connection['provider'], credentials: Credentials): Record<string, string> {
  const { kind, clientSecret, privateKey, certificate, serviceAccountKey } = credentials
  if (provider === 'gmail') return { serviceAccountKey }
  return kind === 'secret' ? { clientSecret: clientSecret.trim() } : { privateKey, certificate }
}

interface CredentialInputsProps {
  provider: Connection['provider']
  value: Credentials
  onChange(changes: Partial<Credentials>): void
  error: ApiError | null
}

export function CredentialInputs({ provider, ...props }: CredentialInputsProps) {
  return provider === 'gmail' ? <KeyFileInput {...props} /> : <SecretInputs {...props} />
}

type InputsProps = Omit<CredentialInputsProps, 'provider'>

function SecretInputs({ value, onChange, error }: InputsProps) {
  return (
    <Stack>
      <div>
        <Text size="sm" fw={600} mb={4} id="credential-kind">
          The application signs in with
        </Text>
        <SegmentedControl
          fullWidth
          aria-labelledby="credential-kind"
          data={[
            { value: 'secret', label: 'A client secret' },
            { value: 'certificate', label: 'A certificate' },
          ]}
          value={value.kind}
          onChange={(kind) => onChange({ kind: kind === 'certificate' ? 'certificate' : 'secret' })}
        />
      </div>
      {value.kind === 'secret' ? (
        <PasswordInput
          label="Client secret"
          description="Its value, not its id"
          required
          withAsterisk={false}
          autoComplete="off"
          maxLength={1024}
          visibilityToggleButtonProps={{ 'aria-label': 'Show the client secret' }}
          value={value.clientSecret}
          error={fieldError(error, 'clientSecret')}
          onChange={(event) => onChange({ clientSecret: event.currentTarget.value })}
        />
      ) : (
        <>
          <PemInput
            label="Private key"
            description="RSA in PEM form, without a passphrase"
            placeholder="-----BEGIN PRIVATE KEY-----"
            value={value.privateKey}
            error={fieldError(error, 'privateKey')}
            onChange={(privateKey) => onChange({ privateKey })}
          />
          <PemInput
            label="Certificate"
            description="In PEM form, as it was uploaded to the application"
            placeholder="-----BEGIN CERTIFICATE-----"
            value={value.certificate}
            error={fieldError(error, 'certificate')}
            onChange={(certificate) => onChange({ certificate })}
          />
        </>
      )}
    </Stack>
  )
}

function KeyFileInput({ value, onChange, error }: InputsProps) {
  const read = async (file: File | null) => {
    if (file !== null) onChange({ serviceAccountKey: await file.text() })
  }
  return (
    <Stack gap="xs">
      <PemInput
        label="Key of the service account"
        description="The JSON file that Google creates for it"
        placeholder={'{ "type": "service_account", … }'}
        value={value.serviceAccountKey}
        error={fieldError(error, 'serviceAccountKey')}
        onChange={(serviceAccountKey) => onChange({ serviceAccountKey })}
      />
      <Group>
        <FileButton accept="application/json,.json" onChange={(file) => void read(file)}>
          {(props) => (
            <Button variant="default" size="compact-sm" {...props}>
              Choose the file
            </Button>
          )}
        </FileButton>
      </Group>
    </Stack>
  )
}

interface PemInputProps {
  label: string
  description: string
  placeholder: string
  value: string
  error: string | undefined
  onChange(value: string): void
}

function PemInput({ onChange, ...props }: PemInputProps) {
  return (
    <Textarea
      {...props}
      required
      withAsterisk={false}
      autosize
      minRows={3}
      maxRows={8}
      maxLength={16_384}
      spellCheck={false}
      autoComplete="off"
      classNames={{ input: 'code-input' }}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

/** The administrator on whose behalf Google shows the directory. */
export function AdminEmailInput({
  value,
  onChange,
  error,
}: {
  value: string
  onChange(value: string): void
  error: ApiError | null
}) {
  return (
    <TextInput
      label="Administrator of the domain"
      description="On whose behalf the directory is read. Without one, mailboxes are connected by their addresses."
      placeholder="admin@acme.example"
      type="email"
      maxLength={320}
      value={value}
      error={fieldError(error, 'adminEmail')}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

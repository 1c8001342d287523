import { type Copy, DockerfileParser, type From, type Instruction, type PropertyInstruction } from 'dockerfile-ast'

/** One instruction of a stage that changes its files. */
export type Step =
  | { run: string }
  | { copy: { sources: string[]; target: string; from: string | undefined; owner: string | undefined } }

export interface Stage {
  base: string
  name: string | undefined
  steps: Step[]
  environment: Record<string, string>
  workdir: string
  /** As in `USER`. */
  user: string
  volumes: string[]
  /** The commands in exec form. */
  healthcheck: string[]
  entrypoint: string[]
  command: string[]
}

/** The stages of a Dockerfile. Throws for an instruction that the replay does not know, so that none is left out. */
export function parseDockerfile(text: string): Stage[] {
  const stages: Stage[] = []
  for (const instruction of DockerfileParser.parse(text).getInstructions()) {
    if (instruction.getKeyword() === 'FROM') stages.push(newStage(instruction as From))
    else apply(instruction, stages.at(-1))
  }
  return stages
}

function newStage(from: From): Stage {
  return {
    base: from.getImage() ?? '',
    name: from.getBuildStage() ?? undefined,
    steps: [],
    environment: {},
    workdir: '/',
    user: '0:0',
    volumes: [],
    healthcheck: [],
    entrypoint: [],
    command: [],
  }
}

function apply(instruction: Instruction, stage: Stage | undefined): void {
  if (stage === undefined) throw new Error(`${instruction.getKeyword()} before FROM`)
  const words = instruction.getArguments().map((argument) => argument.getValue())
  switch (instruction.getKeyword()) {
    case 'RUN':
      stage.steps.push({ run: instruction.getArgumentsContent() ?? '' })
      break
    case 'COPY':
      stage.steps.push({ copy: parseCopy(instruction as Copy, words) })
      break
    case 'ENV':
      for (const property of (instruction as PropertyInstruction).getProperties())
        stage.environment[property.getName()] = property.getValue() ?? ''
      break
    case 'WORKDIR':
      stage.workdir = words[0] ?? '/'
      break
    case 'USER':
      stage.user = words[0] ?? ''
      break
    case 'VOLUME':
      stage.volumes = execForm(instruction)
      break
    case 'HEALTHCHECK':
      stage.healthcheck = execForm(instruction)
      break
    case 'ENTRYPOINT':
      stage.entrypoint = execForm(instruction)
      break
    case 'CMD':
      stage.command = execForm(instruction)
      break
    case 'LABEL':
    case 'EXPOSE':
      break
    default:
      throw new Error(`The replay of the image does not know ${instruction.getKeyword()}.`)
  }
}

function parseCopy(copy: Copy, words: string[]) {
  const flag = (name: string) =>
    copy
      .getFlags()
      .find((found) => found.getName() === name)
      ?.getValue() ?? undefined
  return { sources: words.slice(0, -1), target: words.at(-1) ?? '', from: flag('from'), owner: flag('chown') }
}

/** A command without a shell, so that the program is process 1 and receives the signals. Docker reads it as JSON, too. */
function execForm(instruction: Instruction): string[] {
  const content = instruction.getArgumentsContent() ?? ''
  const json = /\[.*\]$/.exec(content)?.[0]
  if (json === undefined) throw new Error(`${instruction.getKeyword()} is not in exec form: ${content}`)
  return JSON.parse(json) as string[]
}

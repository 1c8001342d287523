import { asRecord, textIn } from './api.ts'

/** Nothing from other sites: they would learn who opens the page. */
const PHOTO = /^data:image\/(png|jpeg|webp);/

/** Who can be met, as `ui.host` of the experience says. Nothing without a name. */
export function Host({ value }: { value: unknown }) {
  const host = asRecord(value)
  const [name, title, photo = ''] = ['name', 'title', 'photo'].map((member) => textIn(host, member))
  return (
    name && (
      <div class="host">
        {PHOTO.test(photo) ? <img src={photo} alt="" /> : <b aria-hidden="true">{[...name][0]}</b>}
        <p>
          <bdi>{name}</bdi>
          {title && <bdi class="description">{title}</bdi>}
        </p>
      </div>
    )
  )
}

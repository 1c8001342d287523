/** The dialog and the floating button. Pages change their colour with `--posthorn-accent` on `:root`. */
export const EMBED_STYLE = `
:host{all:initial;--posthorn-ring:#1d4fc4}
dialog{box-sizing:border-box;width:min(980px,100vw - 24px);max-width:none;max-height:calc(100vh - 24px);max-height:calc(100dvh - 24px);margin:auto;padding:0;border:0;border-radius:18px;background:none;overflow:auto;overscroll-behavior:contain}
dialog::backdrop{background:rgb(10 14 20/.55)}
iframe{display:block;width:100%;height:min(640px,100dvh - 24px);border:0;color-scheme:auto}
button{font:600 15px/1.2 -apple-system,BlinkMacSystemFont,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;cursor:pointer}
dialog button{position:sticky;inset-block-start:12px;z-index:1;float:inline-end;display:grid;place-items:center;width:40px;height:40px;margin:12px 12px -52px;padding:0 0 3px;border:0;border-radius:50%;background:light-dark(#eef0f3,#2a3038);color:light-dark(#14171c,#eceef2);font-size:24px;font-weight:400}
.floating{position:fixed;inset-block-end:20px;inset-inline-end:20px;z-index:2147483000;min-height:48px;padding:12px 22px;border:1px solid transparent;border-radius:99px;background:var(--posthorn-accent,#4263eb);color:var(--posthorn-on-accent,#fff);box-shadow:0 6px 20px rgb(10 14 20/.28)}
button:focus-visible{outline:2px solid var(--posthorn-ring);outline-offset:2px;box-shadow:0 0 0 2px #fff}
`

// The phone page. Message texts only ever become text nodes: whoever writes a message,
// a model included, must not be able to write markup into this page.
"use strict";

const byId = (id) => document.getElementById(id);
const chat = byId("chat");
const list = byId("messages");
const composer = byId("composer");
const select = byId("person");
const OTHER = "+";
const TICKS = { sending: "✓", received: "✓✓", read: "✓✓" };
const TICK_NAMES = { sending: "enviada", received: "recebida", read: "lida" };

let persons = [];
let person = decodeURIComponent(location.hash.slice(1));
let shown = new Map(); // wamid -> { json, element }
let typingTimer = 0;
let toastTimer = 0;
let refreshing = false;
let again = false;

history.replaceState(null, "", location.pathname + location.hash); // the key leaves the address bar

async function call(path, body) {
  const options = body === undefined ? {} : {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Sim-Page": "1" },
    body: JSON.stringify(body),
  };
  const response = await fetch(`/phone/api/${path}`, options);
  const answer = await response.json();
  if (!response.ok) {
    throw new Error(typeof answer.detail === "string" ? answer.detail : `HTTP ${response.status}`);
  }
  return answer;
}

function toast(text) {
  byId("toast").textContent = text;
  byId("toast").classList.add("on");
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => byId("toast").classList.remove("on"), 3500);
}

async function act(work) {
  try {
    await work();
  } catch (error) {
    toast(`Não deu certo: ${error.message}`);
  }
}

function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

// WhatsApp's *bold* and _italic_, as elements around text nodes.
function formatted(parent, text) {
  const pattern = /(^|[\s(])(\*[^\s*](?:[^*\n]*[^\s*])?\*|_[^\s_](?:[^_\n]*[^\s_])?_)(?=$|[\s).,;:!?])/g;
  let from = 0;
  for (const match of text.matchAll(pattern)) {
    const start = match.index + match[1].length;
    parent.append(text.slice(from, start));
    const marked = match[2];
    parent.append(make(marked[0] === "*" ? "strong" : "em", "", marked.slice(1, -1)));
    from = start + marked.length;
  }
  parent.append(text.slice(from));
}

function pixBlock(message) {
  const block = make("div", "pix");
  block.append(make("code", "code", message.text));
  const picture = make("img", "qr");
  picture.src = `/phone/qr.svg?wamid=${encodeURIComponent(message.wamid)}`;
  picture.alt = "QR code do Pix";
  picture.dataset.testid = "qr";
  picture.width = 220;
  picture.height = 220;
  picture.addEventListener("load", stayDown);
  const copy = make("button", "copy", "Copiar código");
  copy.type = "button";
  copy.dataset.testid = "copy-code";
  copy.addEventListener("click", () => copyCode(message.text, block));
  block.append(picture, copy);
  return block;
}

async function copyCode(text, block) {
  try {
    await navigator.clipboard.writeText(text.trim());
    toast("Código copiado");
  } catch {
    getSelection().selectAllChildren(block.querySelector(".code"));
    toast("Código selecionado: copie com Ctrl + C");
  }
}

function buttonRow(message) {
  const row = make("div", "buttons");
  for (const button of message.buttons) {
    const element = make("button", `reply ${button.role}`, button.title);
    element.type = "button";
    element.dataset.testid = `button-${button.role}`;
    element.dataset.buttonId = button.id;
    if (button.presses > 0) {
      element.classList.add("pressed");
      element.append(make("span", "presses", button.presses > 1 ? `tocado ${button.presses}×` : "tocado"));
    }
    element.addEventListener("click", () => act(async () => {
      await call("press", { person, wamid: message.wamid, button_id: button.id });
      pinned = true;
      stayDown();
    }));
    row.append(element);
  }
  return row;
}

function meta(message) {
  const line = make("span", "meta");
  const when = new Date(message.at * 1000);
  const time = make("time", "", when.toLocaleTimeString("pt-BR", { hour: "2-digit", minute: "2-digit" }));
  time.dateTime = when.toISOString();
  line.append(time);
  if (message.direction === "out") {
    const ticks = make("span", `ticks ${message.status}`, TICKS[message.status] || "");
    ticks.dataset.testid = "ticks";
    ticks.dataset.status = message.status;
    ticks.setAttribute("role", "img");
    ticks.setAttribute("aria-label", TICK_NAMES[message.status] || message.status);
    line.append(ticks);
  }
  return line;
}

function bubble(message) {
  const item = make("li", `message ${message.direction}`);
  item.dataset.testid = "message";
  item.dataset.direction = message.direction;
  item.dataset.type = message.type;
  item.dataset.wamid = message.wamid;
  const body = make("div", "bubble");
  body.append(make("span", "visually-hidden", message.direction === "out" ? "Você: " : "Atendimento: "));
  if (message.quote !== null) {
    const quote = make("p", "quote");
    const text = make("span");
    formatted(text, message.quote);
    quote.append(text);
    body.append(quote);
  }
  if (message.pix) {
    body.append(pixBlock(message));
  } else {
    const text = make("p", "text");
    text.dataset.testid = "text";
    formatted(text, message.text);
    body.append(text);
  }
  if (message.footer) body.append(make("p", "footer", message.footer));
  body.append(meta(message));
  item.append(body);
  if (message.buttons.length) item.append(buttonRow(message));
  return item;
}

let pinned = true;
function stayDown() {
  if (pinned) chat.scrollTop = chat.scrollHeight;
}
chat.addEventListener("scroll", () => {
  pinned = chat.scrollHeight - chat.scrollTop - chat.clientHeight < 60;
  byId("down").hidden = pinned;
});

new ResizeObserver(stayDown).observe(chat);

function show(view) {
  byId("address").textContent = view.person.address;
  const kept = new Map();
  let before = null;
  for (const message of view.messages) {
    const json = JSON.stringify(message);
    let entry = shown.get(message.wamid);
    if (!entry || entry.json !== json) {
      const element = bubble(message);
      if (entry) replaceKeepingFocus(entry.element, element);
      entry = { json, element };
    }
    kept.set(message.wamid, entry);
    const next = before ? before.nextSibling : list.firstChild;
    if (next !== entry.element) list.insertBefore(entry.element, next);
    before = entry.element;
  }
  for (const [wamid, entry] of shown) {
    if (!kept.has(wamid)) entry.element.remove();
  }
  shown = kept;
  showTyping(view);
  stayDown();
}

function replaceKeepingFocus(old, fresh) {
  const focused = old.contains(document.activeElement) ? document.activeElement.dataset.testid : null;
  old.replaceWith(fresh);
  if (focused) fresh.querySelector(`[data-testid="${CSS.escape(focused)}"]`)?.focus();
}

function showTyping(view) {
  const typing = view.typing_seconds > 0;
  byId("typing").hidden = !typing;
  byId("presence").textContent = typing ? "digitando…" : view.business;
  clearTimeout(typingTimer);
  if (typing) typingTimer = setTimeout(refresh, view.typing_seconds * 1000 + 200);
}

// One fetch at a time; a change that comes meanwhile asks for one more.
async function refresh() {
  if (refreshing) {
    again = true;
    return;
  }
  refreshing = true;
  try {
    do {
      again = false;
      const asked = person;
      const view = await call(`chat?person=${encodeURIComponent(asked)}`);
      if (asked !== person) {
        again = true;
        continue;
      }
      show(view);
      await tellViewed(view);
    } while (again);
  } catch {
    byId("presence").textContent = "sem conexão com o simulador";
  } finally {
    refreshing = false;
  }
}

async function tellViewed(view) {
  const unread = view.messages.some((m) => m.direction === "in" && m.status === "delivered");
  if (unread && document.visibilityState === "visible") await call("viewed", { person });
}

async function loadPersons() {
  persons = await call("persons");
  if (!persons.some((p) => p.id === person)) person = persons[0].id;
  select.replaceChildren(...persons.map((p) => {
    const option = make("option", "", p.name);
    option.value = p.id;
    return option;
  }));
  const other = make("option", "", "Outro número…");
  other.value = OTHER;
  select.append(other);
  select.value = person;
}

function become(id) {
  person = id;
  select.value = id;
  history.replaceState(null, "", `#${encodeURIComponent(id)}`);
  list.replaceChildren();
  shown = new Map();
  pinned = true;
  refresh();
}

select.addEventListener("change", () => {
  if (select.value !== OTHER) {
    become(select.value);
    return;
  }
  select.value = person;
  byId("number").value = "";
  byId("number-error").textContent = "";
  byId("dialog").showModal();
});
byId("number-cancel").addEventListener("click", () => byId("dialog").close());
byId("number-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    const added = await call("persons", { phone: byId("number").value });
    await loadPersons();
    byId("dialog").close();
    become(added.id);
  } catch {
    byId("number-error").textContent = "Escreva o número com código do país, só com dígitos.";
  }
});

function fit() {
  composer.style.height = "auto";
  composer.style.height = `${Math.min(composer.scrollHeight, 140)}px`;
}
composer.addEventListener("input", fit);
composer.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    byId("form").requestSubmit();
  }
});
byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = composer.value;
  if (!text.trim()) return;
  composer.value = "";
  fit();
  pinned = true;
  composer.focus();
  act(async () => {
    try {
      await call("send", { person, text });
    } catch (error) {
      if (!composer.value) composer.value = text; // what was typed is not lost
      throw error;
    }
  });
});
byId("redeliver").addEventListener("click", () => act(async () => {
  const answer = await call("redeliver", { person });
  const code = answer.status_code === null ? "sem resposta" : `resposta ${answer.status_code}`;
  toast(`Webhook entregue de novo: ${code}`);
}));
byId("down").addEventListener("click", () => {
  pinned = true;
  stayDown();
});
document.addEventListener("visibilitychange", refresh);

async function begin() {
  try {
    await loadPersons();
    become(person);
    const events = new EventSource("/phone/api/events");
    events.addEventListener("open", refresh);
    events.addEventListener("message", refresh);
    events.addEventListener("error", () => {
      byId("presence").textContent = "sem conexão com o simulador";
    });
  } catch (error) {
    byId("presence").textContent = `sem conexão: ${error.message}`;
  }
}
begin();

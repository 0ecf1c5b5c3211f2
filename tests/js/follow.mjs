// Follows a workflow with the WebSocket of npm's `ws`; connects again with its cursor whenever the server is gone.
import WebSocket from "ws";

const [address, workflow, token, wanted] = process.argv.slice(2);
const ids = [];

function follow() {
  const url = `ws://${address}/workflows/${workflow}/events/ws?after=${ids.at(-1) ?? 0}`;
  const socket = new WebSocket(url, ["prose"], { headers: { Authorization: `Bearer ${token}` } });
  socket.on("message", (data) => {
    const event = JSON.parse(data);
    if (event.type) return;
    ids.push(event.id);
    if (ids.length === Number(wanted)) {
      console.log(JSON.stringify(ids));
      process.exit(0);
    }
  });
  socket.on("error", () => {});
  socket.on("close", () => setTimeout(follow, 50));
}

follow();

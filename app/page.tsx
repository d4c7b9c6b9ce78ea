import { goTo } from "./go-to";

export default function Home() {
  goTo("/inbox");
}

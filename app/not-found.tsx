import { Miss } from "./miss";

export default function NotFound() {
  return <Miss />;
}

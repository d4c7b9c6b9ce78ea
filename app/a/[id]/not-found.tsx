import { Miss } from "../../miss";

export default function ApprovalNotFound() {
  return <Miss />;
}

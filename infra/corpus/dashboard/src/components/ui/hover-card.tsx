import * as H from "@radix-ui/react-hover-card";
import { floating, styled } from "@/lib/styled";

export const HoverCard = H.Root;
export const HoverCardTrigger = H.Trigger;
export const HoverCardContent = styled(H.Content, `${floating} w-64 p-4`);

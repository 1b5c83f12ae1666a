/* Apply the chosen theme before anything is drawn; without a choice the system's own holds. */
"use strict";
{
  const chosen = localStorage.getItem("handoff-theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
}

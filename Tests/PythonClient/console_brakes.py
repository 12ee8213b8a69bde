"""The walk of console.py through brakes on large pushes: a push is undone, and one is approved by a second person."""

from typing import Any

from stage import Phone, answer, expect_equal


async def use_the_brakes(walk: Any, address: str, key: str, phone: Phone, password: str) -> None:
    """Zoe sends to everybody and thinks better of it; then she needs Sue, and so she does to be rid of that."""
    app = f"{address}/console/apps/{key}"
    owner, sue = walk.page, await join(walk, address, password)
    walk.page = owner
    await owner.goto(f"{app}/settings/approval")
    await owner.get_by_label("Seconds to undo").fill("61")
    before = len(walk.complaints)
    await owner.get_by_role("button", name="Save").last.click()
    await owner.get_by_text("Enter a number of seconds from 0 to 60.").wait_for()
    # Browsers note each answer that is an error.
    walk.complaints[before:] = [line for line in walk.complaints[before:] if "422" not in line]
    await owner.get_by_label("Seconds to undo").fill("60")
    await owner.get_by_role("button", name="Save").last.click()
    await owner.get_by_text("Saved.").wait_for()
    await walk.look("approval-settings")

    shown = list(phone.shown)
    await send_to_everybody(owner, app, "A mistake", "Send now")
    await owner.get_by_text("It goes at").wait_for()
    await walk.look("push-can-be-undone")
    await owner.get_by_role("button", name="Undo").click()
    await owner.get_by_text("Stopped by Zoe. Nobody got it.").wait_for()
    await walk.look("push-undone")

    await owner.goto(f"{app}/settings/approval")
    await owner.get_by_label("Seconds to undo").fill("0")
    await owner.get_by_role("button", name="Save").last.click()
    await owner.get_by_text("Saved.").wait_for()
    await owner.get_by_label("Approval above (devices)").fill("1")
    await owner.get_by_role("button", name="Save").first.click()
    await owner.get_by_text("Saved.").wait_for()
    await send_to_everybody(owner, app, "For all of you", "Ask for approval")
    await owner.get_by_text("You asked for it, so another person has to approve it.").wait_for()
    await walk.look("push-waits-for-approval")
    expect_equal(await owner.locator("summary", has_text="Approve").count(), 0, "buttons to approve the own push")
    expect_equal(phone.shown, shown, "pushes that reached the phone")

    walk.page = sue
    await sue.goto(f"{app}/waiting")
    await sue.get_by_role("link", name="For all of you").wait_for()
    await walk.look("waiting")
    await sue.get_by_role("link", name="For all of you").click()
    await sue.locator("summary", has_text="Approve").click()
    await walk.look("approve")
    await sue.get_by_role("button", name="Approve this push").click()
    await phone.shows(*shown, "For all of you")
    # The page finds that out by itself.
    await sue.get_by_text("msg_id").first.wait_for()
    walk.page = owner
    await owner.goto(f"{app}/settings/approval")
    await owner.get_by_label("Approval above (devices)").fill("0")
    await owner.get_by_role("button", name="Save").first.click()
    await owner.get_by_text("Zoe wants to set: no approval.").wait_for()
    await walk.look("approval-asked")
    await sue.goto(f"{app}/settings/approval")
    await answer(sue, "Approve change")
    await sue.get_by_text("Saved.").wait_for()
    await sue.context.close()


async def join(walk: Any, address: str, password: str) -> Any:
    """A second admin, in a browser of her own."""
    owner = walk.page
    await owner.goto(f"{address}/console/accounts/1/people")
    await owner.get_by_label("Email address").fill("sue@example.com")
    await owner.get_by_label("Role").last.select_option("admin")
    await owner.get_by_role("button", name="Create link").click()
    link = await owner.locator("code", has_text="/console/invitations/").inner_text()
    page = await walk.open(locale="en-GB")
    await page.goto(link)
    await page.get_by_label("Your name").fill("Sue")
    await page.get_by_label("Password").fill(password)
    await page.get_by_role("button", name="Join").click()
    await page.get_by_role("link", name="Northern Lights").wait_for()
    return page


async def send_to_everybody(page: Any, app: str, text: str, button: str) -> None:
    await page.goto(f"{app}/push")
    await page.get_by_role("radio", name="Everyone").check()
    await page.get_by_label("Text", exact=True).fill(text)
    await page.get_by_role("button", name="Next").click()
    await page.get_by_role("button", name=button).click()
